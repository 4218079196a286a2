# The report of "echelon emulate" as JSON and as a page.
needs_compiler
unset CXX
command -v python3 >/dev/null || skip "no python3"
cat >scale.cu <<'END'
/* </script> <b> & "quotes" \ must not end the data of the page */
__global__ void scale(const float *in, int n, float *out)
{
    __shared__ float s[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    out[i] = 2 * s[threadIdx.x ^ 32];
}
END
run() { code echelon emulate scale.cu --grid 2 --block 64 --arg in:f32:100=1 --arg n=100 --arg out:f32:128 "$@"; }
run --json >report.json
cat >look.py <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
if sys.argv[1].endswith(".html"):
    parts = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert len(parts) == 1 and text.rstrip().endswith("</html>"), "the page is damaged"
    text = parts[0]
r = json.loads(text)
print(r["kernel"], r["signature"], r["file"], r["grid"], r["block"], r["runs"])
print([(a["name"], a["type"], a.get("n"), a.get("value"), a.get("contents")) for a in r["arguments"]])
for f in r["findings"]:
    print(f["fault"], f["file"], f["line"], f["count"], re.sub("thread.*", "thread ...", f["text"]))
c = r["counts"]
print({k: c[k] for k in ("load_requests", "load_sectors", "load_bytes", "store_sectors", "shared_loads", "bank_conflicts")})
print({l["line"]: l["counts"]["shared_loads"] for l in r["lines"] if l["counts"]["shared_loads"]})
if "events" in r:
    print(r["sources"][0]["file"], r["sources"][0]["lines"][0], len(r["sources"][0]["lines"]))
    for e in r["events"]:
        print(e["kind"], e["warp"], e["lanes"], e.get("space"), e.get("name"), e["line"], e.get("cost"), e.get("at", [])[:3])
END
python3 look.py report.json
run --html page.html >/dev/null
python3 look.py page.html
run --json --seeds 2 -o out=- 2>two.json | sort | uniq -c
python3 -c 'import json; print(json.load(open("two.json"))["runs"])'
run --html absent/page.html >/dev/null
run --html - >out 2>err
tail -n 1 out err
head -n 1 report.json | wc -l
files

echo "what a kernel prints"
echo '__global__ void hello(int *out) { printf("hello from thread %d\n", threadIdx.x); out[threadIdx.x] = 5; }' >hello.cu
code echelon emulate hello.cu --block 2 --arg out:i32:2 | head -n 3
code echelon emulate hello.cu --block 2 --arg out:i32:2 --json 2>err | python3 -m json.tool >/dev/null && cat err
code echelon emulate hello.cu --block 2 --arg out:i32:2 -o out=- 2>err
head -n 2 err
