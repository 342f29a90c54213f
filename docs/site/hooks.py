"""What the site does beyond mkdocs: one list of pages for both languages, links that leave docs/, tables that both share,
and no address of another host in the theme's scripts.

nav.txt lists the pages: a line `English title | Chinese title` opens a section, the indented lines after it are its pages.
A page is called by its first heading. Chinese pages stand in docs/zh under the same names.
"""
import pathlib
import posixpath
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)([^)]*)\)")
COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
TABLES = re.compile(r"^<!-- tables of: (\S+) -->\n", re.MULTILINE)
# Addresses in the theme's scripts and styles: in comments, or of features that are not used here and would fetch something.
FOREIGN = re.compile(r"https?://(?!www\.w3\.org/)[\w.-]+\.[a-z]{2,}[\w./@-]*")
SEARCH = {"lunr.stemmer.support.min.js", "lunr.multi.min.js", "lunr.zh.min.js"}  # of the search's languages, those of the two sites

copied = set()  # files outside of docs/ that pages link to


def sections(chinese):
    """The list of pages: [(title, [page, ...]), ...]; pages that are not there are left out."""
    found = []
    for line in (DOCS / "site" / "nav.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] == " ":
            if (DOCS / ("zh" if chinese else "") / line.strip()).is_file():
                found[-1][1].append(line.strip())
        else:
            found.append((line.split(" | ")[chinese].strip(), []))
    return [section for section in found if section[1]]


def on_config(config):
    config.nav = [{title: list(pages)} for title, pages in sections(config.theme["language"] == "zh")]
    return config


def shared_tables(page, target):
    """The English page's sections from its first table on, for generated tables that need no translation."""
    text = COMMENT.sub("", ((DOCS / "zh" / page).parent / target).resolve().read_text(encoding="utf-8"))
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|"))
    while first and not lines[first].startswith("#"):
        first -= 1
    return "\n".join(lines[first + (first == 0):]) + "\n"


def published(name):
    """A source is shown as text; a notebook is for downloading."""
    return name if name.endswith(".ipynb") else f"{name}.txt"


def on_page_markdown(markdown, page, config, files):
    chinese = config.theme["language"] == "zh"
    place = posixpath.join("docs", "zh" if chinese else "", page.file.src_uri)
    markdown = TABLES.sub(lambda m: shared_tables(page.file.src_uri, m[1]), markdown)

    def outward(match):
        target, rest = match.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        inside = path.startswith("docs/") and not path.startswith("docs/site/")
        if chinese and inside and path.endswith(".md") and not path.startswith("docs/zh/"):
            return f"]({target.removesuffix('.md')}.html{rest})"  # a page that is only in the English site
        if re.match(r"[a-z]+:", target) or inside or not (ROOT / path).is_file():
            return match[0]
        copied.add(path)
        up = posixpath.relpath("docs/source", posixpath.dirname(place))
        return f"]({up}/{published(path)})"

    return COMMENT.sub("", LINK.sub(outward, markdown))


def on_page_context(context, page, config, nav):
    chinese = config.theme["language"] == "zh"
    page_url = posixpath.join("zh" if chinese else "", page.file.url)
    english = page_url.removeprefix("zh/")
    links = [("English", "en", english), ("中文", "zh", f"zh/{english}")]
    # A page without a twin leads to the other language's first page.
    exists = {"en": (DOCS / page.file.src_uri).is_file(), "zh": (DOCS / "zh" / page.file.src_uri).is_file()}
    context["twins"] = [
        {"name": name, "lang": lang, "link": posixpath.relpath(url if exists[lang] else posixpath.join("zh" if lang == "zh" else "", "index.html"), posixpath.dirname(page_url) or ".")}
        for name, lang, url in links]
    return context


def on_post_build(config):
    site = pathlib.Path(config.site_dir)
    for script in [*site.glob("assets/javascripts/**/*.js"), *site.glob("assets/stylesheets/*.css")]:
        text = script.read_text(encoding="utf-8")
        script.write_text(FOREIGN.sub("", text), encoding="utf-8")
    others = [path for path in site.glob("assets/javascripts/lunr/min/*.js") if path.name not in SEARCH]
    for unused in [*others, *site.glob("assets/javascripts/lunr/*.js"), *site.glob("assets/**/*.map"), site / "sitemap.xml", site / "sitemap.xml.gz"]:
        unused.unlink(missing_ok=True)
    sources = (site.parent if config.theme["language"] == "zh" else site) / "source"
    for name in sorted(copied):
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, sources / published(name))
    copied.clear()
