"""Word documents for tests, written by hand: no more of the format than a reader has to know."""

import io
import zipfile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
FALLBACK = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def docx(*blocks, compression=zipfile.ZIP_DEFLATED):
    body = "".join(blocks)
    xml = f'<w:document xmlns:w="{WORD}" xmlns:mc="{FALLBACK}"><w:body>{body}</w:body></w:document>'
    return archive(xml, compression=compression)


def archive(xml, *, name="word/document.xml", compression=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as parts:
        parts.writestr(name, xml)
    return data.getvalue()


def paragraph(text):
    return f"<w:p>{run(text)}</w:p>"


def run(text):
    lines = "<w:br/>".join(f'<w:t xml:space="preserve">{line}</w:t>' for line in text.split("\n"))
    return f"<w:r><w:rPr><w:b/></w:rPr>{lines}</w:r>"


def table(*rows):
    return f"<w:tbl>{''.join(map(_row, rows))}</w:tbl>"


def _row(cells):
    return f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in cells)}</w:tr>"
