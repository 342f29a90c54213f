"""cameo view: pictures, pages, and what the server refuses."""
import base64
import http.client
import json
import signal
import struct
import subprocess
import urllib.parse
import xml.etree.ElementTree

NET = """<ir_version: 8, opset_import: ["" : 18]>
g (float[n,4] x) => (float[n,4] y)
{
  ["body.0/Relu"] a = Relu(x)
  ["body.1/Tanh"] y = Tanh(a)
}
"""
EVIL = '</script><img src=x onerror=alert(1)> & \\"'


def has_page(t):
    t.path("any.onnxtxt").write_text(NET)
    result = t.attempt("view", "any.onnxtxt", "-o", "any.html")
    if result.code == 2:
        assert "make page" in result.err and "use.page" in result.err, result
        raise t.skip("this build has no page: make page")
    assert result.code == 0, result


def test_a_picture_needs_no_page(t):
    t.path("net.onnxtxt").write_text(NET)
    t.run("view", "net.onnxtxt", "-o", "net.svg")
    picture = xml.etree.ElementTree.parse(t.path("net.svg")).getroot()
    texts = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "y", "Relu", "Tanh"} <= set(texts), texts
    t.run("view", "net.onnxtxt", "-o", "net.png", code=2)


def test_names_are_only_text_in_pictures(t):
    t.path("evil.onnxtxt").write_text(NET.replace("body.0/Relu", EVIL + "/Relu").replace(" x)", f' "{EVIL}")').replace("Relu(x)", f'Relu("{EVIL}")'))
    t.run("view", "evil.onnxtxt", "-o", "evil.svg", "--open-all")
    xml.etree.ElementTree.parse(t.path("evil.svg"))
    assert "<img" not in t.path("evil.svg").read_text()


def test_names_are_only_text_in_pages(t):
    has_page(t)
    t.path("evil.onnxtxt").write_text(NET.replace("body.0/Relu", EVIL + "/Relu"))
    t.run("view", "evil.onnxtxt", "-o", "evil.html")
    page = t.path("evil.html").read_text()
    assert "<img" not in page and page.count("</script>") == 5
    data = json.loads(page.split('id="cameo-data">')[1].split("</script>")[0])
    if "model" in data:  # the page carries the engine
        assert data["model"]["name"] == "evil.onnx"
        assert b"onerror" in base64.b64decode(data["model"]["base64"])
    else: assert any("onerror" in json.dumps(r) for r in data["replies"].values())


class Server:
    """`cameo view --no-open` and its address."""

    def __init__(self, t, *args):
        self.process = subprocess.Popen([t.command, "view", "--no-open", "-q", *args], cwd=t.folder, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job in the background ignores it
        self.address = urllib.parse.urlsplit(self.process.stdout.readline().strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=30)
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        contents = answer.read()
        connection.close()
        return answer, contents

    def call(self, method, **params):
        request = json.dumps({"method": method, "params": params}).encode()
        answer, stream = self.ask(self.address.path + "call", "POST", struct.pack("<Q", len(request)) + request)
        assert answer.status == 200
        while stream:
            kind, length = struct.unpack_from("<BQ", stream)
            if kind == 2:
                return json.loads(stream[9:9 + length])
            stream = stream[9 + length:]
        raise AssertionError("no reply")


def test_the_server_answers_its_page_only(t):
    has_page(t)
    t.path("net.onnxtxt").write_text(NET)
    t.path("secret.onnxtxt").write_text(NET)
    with Server(t, "net.onnxtxt") as server:
        base = server.address.path
        answer, page = server.ask(base)
        assert answer.status == 200 and b"cameo-data" in page
        wanted = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp", "X-Content-Type-Options": "nosniff",
                  "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        assert all(answer.getheader(k) == v for k, v in wanted.items()) and "frame-ancestors 'none'" in answer.getheader("Content-Security-Policy")
        for path in ["/", "/net.onnxtxt", base[:-2] + "0/", base + "secret.onnxtxt", base + "../net.onnxtxt", base + "..%2f..%2fetc/passwd"]:
            assert server.ask(path)[0].status == 404, path
        assert server.ask(base, Host="evil.example")[0].status == 403
        assert server.ask(base + "call", "POST", b"", Origin="http://evil.example")[0].status == 403
        assert server.ask(base, Sec_Fetch_Site="cross-site")[0].status == 403
        assert server.ask(base + "call", "POST", struct.pack("<Q", 99) + b"{}")[0].status == 400
        assert server.call("open", file="net.onnxtxt")["ok"]
        for other in ["secret.onnxtxt", "./net.onnxtxt/../secret.onnxtxt", "/etc/passwd"]:
            refused = server.call("open", file=other)
            assert not refused["ok"] and refused["errors"][0]["code"] == "use.file", refused


def test_a_signal_ends_the_server_with_the_status_of_other_verbs(t):
    has_page(t)
    for number in (signal.SIGINT, signal.SIGTERM):
        with Server(t, "any.onnxtxt") as server:
            server.process.send_signal(number)
            assert server.process.wait(timeout=10) == 128 + number
