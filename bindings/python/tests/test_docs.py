"""Every snippet of the guide and of the README runs."""

import importlib.util
import os
import re
import shutil
from pathlib import Path

import pytest
from recorded import BINDING, PROJECT

GUIDE = (PROJECT / "docs" / "embedding-python.md").read_text(encoding="utf-8")
SNIPPET = re.compile(r"(?:<!-- needs: (\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)


def installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(Path(__file__).parent / "server.py", tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore")
def test_the_guide(folder):
    names, ran, skipped = {}, 0, []
    for needed, language, text in SNIPPET.findall(GUIDE):
        if language == "toml":
            (folder / "policy.toml").write_text(text, encoding="utf-8")
        if language != "python":
            continue
        if needed and not installed(needed):
            assert needed not in os.environ.get("MCP_SELECT_EXPECT", "").split()
            skipped.append(needed)
            continue
        exec(compile(text, f"snippet {ran + 1} of the guide", "exec"), names)
        ran += 1
    assert ran + len(skipped) == 12
    assert ran >= 6


def test_the_readme(folder, capsys):
    readme = (BINDING / "README.md").read_text(encoding="utf-8")
    snippets = {language: text for _, language, text in SNIPPET.findall(readme)}
    exec(compile(snippets["python"], "snippet of the README", "exec"), {})
    assert capsys.readouterr().out == snippets["text"]
