# The page of "echelon ladder --html": well formed, self-contained, complete; and outputs that cannot be written.
needs_plain_build
echelon info | grep -q "^simt: " || skip "no emulator"
command -v python3 >/dev/null || skip "python3 is not installed"
# The structure of a page: its titles, links, charts with their bars, tables with their rows.
cat >outline.py <<'END'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
for e in root.iter():
    text = "".join(e.itertext()).strip()
    if e.tag in ("title", "h1", "h2", "h3", "a", "summary"):
        print(f"{e.tag}: {text}")
    if e.tag == "svg":
        print("chart:", len(e.findall("rect")), "bars,", len(e.findall("text")), "texts")
    if e.tag == "table":
        rows = e.findall("tr")
        print("table:", " | ".join(c.text for c in rows[0]), "with", len(rows) - 1, "rows")
    if e.tag == "td" and e.get("class") in ("yes", "no", "wrong"):
        print(f"{e.get('class')}: {text}")
    if e.get("src") or e.get("href", "#")[0] != "#" or "url(" in text:
        print("not self-contained:", tree.tostring(e))
END
echo "one ladder"
code echelon ladder copy --device simt --html copy.html >/dev/null
python3 outline.py copy.html
echo "one rung, two sizes"
code echelon ladder reduce --device simt --rung 3 -N 100,3000 --html - 2>/dev/null >rung.html
python3 outline.py rung.html
echo "all ladders, one size"
code echelon ladder all --device simt --rung 1 -N 64 --html all.html >/dev/null
python3 outline.py all.html >all.txt
echelon ladder | tail -n +2 | cut -d ' ' -f 1 >names
grep '^h2: ' all.txt | cut -d ' ' -f 2 | diff names - && echo "a section per ladder"
grep '^a: ' all.txt | cut -d ' ' -f 2 | diff names - && echo "a link per ladder"
grep -c '^chart: 0' all.txt
echo "an output that exists is replaced"
echo old >copy.html
code echelon ladder copy --device simt --rung 4 -N 100 --html copy.html >/dev/null
head -c 15 copy.html
echo
echo "errors"
code echelon ladder copy --device simt --html none/copy.html
code echelon ladder copy --device simt --html ''
code echelon ladder copy --device simt --check --html x.html
code echelon ladder copy --device simt --plot x.html --html x.html
code echelon ladder copy --device simt --html - --plot -
seq 9 >n.txt
code echelon ladder reduce --device simt --input n.txt --html n.txt
code echelon ladder copy --device none --html x.html
code echelon ladder copy --device simt --rung 4 -N 100 --html /dev/full >/dev/null
rm outline.py rung.html all.* names
files
