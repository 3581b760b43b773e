import xml.etree.ElementTree as ET

from rldebug.render.matrix import matrix

PAIRS = {("buffer", "buffer"): 6, ("buffer", "network"): 2, ("entropy", ""): 3}


def test_the_picture_shows_each_count_in_its_cell_and_names_rows_and_columns():
    root = ET.fromstring(matrix(PAIRS, "union: 11 bugs <&>"))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("buffer") == 2  # a row and a column
    assert texts.count("network") == 1  # blamed, and the label of none
    assert {"6", "2", "3", "8", "nothing found", "union: 11 bugs <&>"} <= set(texts)


def test_what_is_right_wrong_and_missed_has_colours_of_its_own():
    root = ET.fromstring(matrix(PAIRS, "x"))
    cells = {each.get("fill") for each in root.iter("{http://www.w3.org/2000/svg}rect")}
    assert len(cells) >= 6
