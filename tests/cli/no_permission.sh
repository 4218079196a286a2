# Missing permissions; root always has them, so root runs this test as the user nobody.
as_user() {
    "$@"
}
if [ "$(id -u)" -eq 0 ]; then
    as_user() {
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    }
    chmod 755 . .. ../..
    chmod 777 .
    as_user echelon --version >/dev/null 2>&1 ||
        skip "cannot become a user who may not do everything"
fi
echo 1 >in.txt
mkdir locked
chmod 555 locked
code as_user echelon sort in.txt -o locked/out.txt
echo 2 >readonly.txt
chmod 444 readonly.txt
code as_user echelon sort in.txt -o readonly.txt
chmod 000 in.txt
code as_user echelon sort in.txt
chmod 755 locked
files
