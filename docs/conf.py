"""Sphinx's settings; ``python3 run.py docs`` builds the site."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import paperlib  # noqa: E402

project, author, copyright = "paperlib", "the paperlib authors", "2026, the paperlib authors"
version = release = paperlib.__version__
language, root_doc = "en", "docs/index"
extensions = [
    "myst_nb",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "mathml",
    "results",
]
html_math_renderer = "mathml"

myst_enable_extensions = [
    "dollarmath",
    "amsmath",
    "colon_fence",
    "html_image",
    "alert",
    "strikethrough",
]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True, "undoc-members": False}
suppress_warnings = ["ref.python"]  # a field's name that several classes have
napoleon_custom_sections = [
    ("Optional members", "params_style"),
]
napoleon_numpy_docstring, napoleon_use_ivar = False, True

html_theme, html_title = "pydata_sphinx_theme", "paperlib"
html_static_path, html_extra_path = ["_static"], ["_extra"]
html_css_files, html_js_files = (
    ["site.css"],
    [(name, {"defer": "defer"}) for name in ("claims.js", "details.js")],
)
html_context = {
    "default_mode": "auto"
}  # light or dark as the system is; without it each first visit logs an error
html_show_sourcelink = html_copy_source = False
html_sidebars = {
    "docs/index": [],
    "docs/claims": [],
    "docs/notebooks/*": [],
    "docs/papers/*": [],
    "docs/guides/*": [],
    "docs/code/*": [],
}
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
