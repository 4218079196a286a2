# Tables with random quotes and separators: reduce --by, select, unique and stats, compared with Python's csv module.
command -v python3 >/dev/null || skip "no python3"
python3 "$TESTS/groups_check.py"
