"""test_issue_N.py: the script as a test in the style of the project's own tests.

Plain functions, or methods of a TestCase where the project writes most of its tests so; indented as
they are.
"""

import re
from collections.abc import Sequence

from reenact.bug.project_files import ProjectFiles
from reenact.bug.repro.script import LONGEST_TITLE, Parts, indented

LONGEST_NAME = 60
_ISSUE = re.compile(r"#(\d{1,9})$")
_TWO_BLANKS = re.compile(r"^  \S", re.MULTILINE)
_FOUR_BLANKS = re.compile(r"^    \S", re.MULTILINE)
_TEST_CASE = re.compile(r"^class \w+\((?:\w+\.)*\w*TestCase\w*\)", re.MULTILINE)
_TEST = re.compile(r"^(?:async )?def test_\w+", re.MULTILINE)


def test_name(source: str) -> str:
    """The name of the file: by the number of the issue, where it came from one."""
    issue = _ISSUE.search(source)
    return f"test_issue_{issue[1]}.py" if issue is not None else "test_reported_bug.py"


def test_text(parts: Parts, files: ProjectFiles, title: str, source: str) -> str:
    """The whole file."""
    tests = [text for path, text in files.texts.items() if _is_test(path.parts)]
    by = "  " if _indents_by_two(tests) else "    "
    cases = sum(len(_TEST_CASE.findall(text)) for text in tests)
    plain = sum(len(_TEST.findall(text)) for text in tests)
    name = _slug(title)
    # What cannot be imported is a failure of the test too, not of collecting it.
    imports = parts.imports if parts.body else ""
    body = indented(parts.body or parts.imports, by)
    about = f'"""{_about(title, source)}"""'
    if cases > plain:
        imports = "\n".join(filter(None, ["import unittest", imports]))
        words = "".join(word.capitalize() for word in name.split("_"))
        test = f"class {words}Test(unittest.TestCase):\n{by}def test_{name}(self):\n"
        test += indented(parts.body or parts.imports, by + by)
    else:
        test = f"def test_{name}():\n{body}"
    head = "\n\n".join(one for one in (about, parts.future, imports) if one)
    return "\n\n\n".join(one for one in (head, parts.helpers, test) if one) + "\n"


def _is_test(parts: Sequence[str]) -> bool:
    name = parts[-1]
    return name.startswith("test_") or name.endswith("_test.py")


def _indents_by_two(tests: Sequence[str]) -> bool:
    """Whether these files do: twice as deep is common in them too, twice as shallow in no others."""
    two = sum(len(_TWO_BLANKS.findall(text)) for text in tests)
    four = sum(len(_FOUR_BLANKS.findall(text)) for text in tests)
    return 2 * two > four


def _about(title: str, source: str) -> str:
    plain = (
        " ".join(title.split()).replace("\\", "/").replace('"', "'")[:LONGEST_TITLE].rstrip(" .")
    )
    issue = _ISSUE.search(source)
    return f"Issue {issue[1]}: {plain}." if issue is not None else f"{plain}."


def _slug(title: str) -> str:
    """The title as a name, at a word's end."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = ""
    for word in words:
        if len(name) + len(word) >= LONGEST_NAME:
            break
        name = f"{name}_{word}" if name else word
    return name or "reported_bug"
