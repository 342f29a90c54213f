"""Pictures, pages and the desk from Python."""
import json
import urllib.error
import urllib.request
import xml.etree.ElementTree

import numpy as np
import pytest

import cameo
from cameo import _cameo

needs_page = pytest.mark.skipif(not _cameo.has_page(), reason="this build has no page: make page")


@pytest.fixture
def net(tmp_path):
    g = cameo.Builder()
    g.output("y", g.Relu(g.MatMul(g.input("x", "f32[n,4]"), np.ones((4, 2), np.float32))))
    path = tmp_path / "net.onnx"
    g.save(path)
    return path


@pytest.mark.parametrize("given", [str, lambda p: p, cameo.load])
def test_a_picture(net, tmp_path, given):
    assert cameo.view(given(net), tmp_path / "net.svg") is None
    picture = xml.etree.ElementTree.parse(tmp_path / "net.svg").getroot()
    assert {"MatMul", "Relu"} <= {e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")}
    cameo.load(net).view(tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == (tmp_path / "net.svg").read_text()


def test_what_is_refused(net, tmp_path):
    for output, code in (("net.png", "use.extension"), ("no/such/folder/net.svg", "write.failed")):
        with pytest.raises(cameo.Error) as caught:
            cameo.view(net, tmp_path / output)
        assert caught.value.code == code
    with pytest.raises(cameo.Error) as caught:
        cameo.view(tmp_path / "none.onnx", tmp_path / "net.svg")
    assert caught.value.code == "file.missing" and not (tmp_path / "net.svg").exists()
    if not _cameo.has_page():
        for options in ({"output": tmp_path / "net.html"}, {"browser": False}):
            with pytest.raises(cameo.Error) as caught:
                cameo.view(net, **options)
            assert caught.value.code == "use.page" and not (tmp_path / "net.html").exists()


@needs_page
def test_a_file_of_a_path_and_of_a_model(net, tmp_path):
    cameo.view(net, tmp_path / "a.html")
    cameo.view(cameo.load(net), tmp_path / "b.html", name="mine.onnx")
    for page, name in (("a.html", str(net)), ("b.html", "mine.onnx")):
        text = (tmp_path / page).read_text()
        data = json.loads(text.split('id="cameo-data">')[1].split("</script>")[0])
        if "model" in data: assert name.endswith(data["model"]["name"])  # the page carries the engine
        else: assert any(key.startswith("open ") and name in key for key in data["replies"])


@needs_page
def test_a_server_in_the_background(net):
    with cameo.view(cameo.load(net), browser=False, block=False, name="mine.onnx") as shown:
        assert shown.running and urllib.request.urlopen(shown.address).status == 200
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(shown.address.rsplit("/", 2)[0] + "/wrong/")
    assert not shown.running and "closed" in repr(shown)
    with pytest.raises(cameo.Error):
        cameo.view(net, port=70000)


def test_a_desk(net):
    desk = cameo.Desk([net])
    number = desk.call("open", file=str(net))["model"]
    assert desk.call("check", model=number)["findings"] == []
    edited = desk.call("edit", model=number, changes=[["rename", "x", "image"], ["set_dim", "image", 0, "batch"]])
    assert "--rename x=image" in edited["command"] and "--set-dim image:0=batch" in edited["command"]
    desk.call("save", model=edited["model"])
    assert cameo.load(desk.blobs[0]).inputs[0].name == "image"
    desk.offer("mine", cameo.load(net))
    assert desk.call("open", file="mine")["file"] == "mine" and "mine" in desk.call("models")["files"]
    ran = desk.call("run", model=number, inputs=[{"name": "x", "dtype": "f32", "shape": [1, 4], "blob": 0}], blobs=[np.ones((1, 4), np.float32).tobytes()])
    assert ran["outputs"][0]["array"]["first"] == [4, 4]
    for method, params, code in (("nope", {}, "use.method"), ("open", {"file": "/etc/passwd"}, "use.file"), ("show", {"model": 77}, None),
                                 ("edit", {"model": number, "changes": [["load_weight", "x", "/etc/passwd"]]}, "use.file")):
        with pytest.raises(cameo.Error) as caught:
            desk.call(method, **params)
        assert code is None or caught.value.code == code
