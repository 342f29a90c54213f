"""Models of transformers with random weights and small sizes, as they are: detectors with their choice of queries, attention over windows.

transformers is not among the pins of tests/requirements.txt: with it come ten packages that nothing else here needs. `pip install transformers` beside
them (it brings no PyTorch of its own) makes these tests run."""
import pytest

torch = pytest.importorskip("torch")
import cameo  # noqa: E402

try:
    import transformers
except Exception as e:  # not installed, or a part of it that does not load
    pytest.skip(f"transformers: {e}", allow_module_level=True)

DETECTOR = dict(d_model=32, encoder_hidden_dim=32, encoder_in_channels=[16, 16, 16], decoder_in_channels=[32, 32, 32], feat_strides=[8, 16, 32], encoder_layers=1, encoder_ffn_dim=32,
                encoder_attention_heads=2, decoder_ffn_dim=32, num_queries=12, decoder_layers=2, decoder_attention_heads=2, num_labels=5, num_denoising=0)


class Boxes(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, pixels):
        out = self.inner(pixel_values=pixels, return_dict=True)
        return out.logits, out.pred_boxes


def varied(module):
    """Weights as small as those that detectors begin with make every query as good as another: these keep signals alive."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for t in module.parameters():
            t.copy_(torch.randn(t.shape, generator=generator) * (1.4 * t[0].numel() ** -0.5 if t.dim() > 1 else 0.3) + (t.dim() == 1))
    return module.eval()


def rt_detr_v2():
    backbone = transformers.RTDetrResNetConfig(embedding_size=16, hidden_sizes=[16] * 4, depths=[1] * 4, layer_type="basic", out_features=["stage2", "stage3", "stage4"])
    return Boxes(varied(transformers.RTDetrV2ForObjectDetection(transformers.RTDetrV2Config(backbone_config=backbone, **DETECTOR))))


def d_fine():
    backbone = transformers.HGNetV2Config(embedding_size=8, hidden_sizes=[16] * 4, stem_channels=[3, 8, 8], stage_in_channels=[8, 16, 16, 16], stage_mid_channels=[8] * 4,
                                          stage_out_channels=[16] * 4, stage_num_blocks=[1] * 4, stage_numb_of_layers=[1] * 4, out_features=["stage2", "stage3", "stage4"])
    return Boxes(varied(transformers.DFineForObjectDetection(transformers.DFineConfig(backbone_config=backbone, **DETECTOR))))


class Hidden(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, ids):
        return self.inner(input_ids=ids, return_dict=False)[0]


def longformer():
    config = transformers.LongformerConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, vocab_size=50, attention_window=[4, 4],
                                           max_position_embeddings=64)
    return Hidden(transformers.LongformerModel(config).eval())


PICTURE, TOKENS = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(2)), torch.arange(8)[None] + 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make, x, capture", [(rt_detr_v2, PICTURE, "export"), (rt_detr_v2, PICTURE, "trace"), (d_fine, PICTURE, "export"), (d_fine, PICTURE, "trace"),
                                              (longformer, TOKENS, "trace")], ids=["RT-DETRv2 exported", "RT-DETRv2 traced", "D-FINE exported", "D-FINE traced", "Longformer traced"])
def test_right_beside_onnxruntime(make, x, capture):
    ort = pytest.importorskip("onnxruntime")
    torch.manual_seed(0)
    model = make()
    result = cameo.export(model, (x,), capture=capture)
    assert result.captured == capture and result.verification.ok
    session = ort.InferenceSession(result.model.to_bytes(), providers=["CPUExecutionProvider"])
    got = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    with torch.no_grad():
        wanted = model(x)
    for g, w in zip(got, wanted if isinstance(wanted, tuple) else [wanted]):
        torch.testing.assert_close(torch.from_numpy(g), w, rtol=1e-3, atol=1e-4)


def decoder(kind, **more):
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=8, intermediate_size=16, vocab_size=50,
                                                    max_position_embeddings=64, **more)
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def with_cache(model, length):
    cache = transformers.DynamicCache(config=model.config)
    with torch.no_grad():
        model(torch.arange(length)[None] % 50, past_key_values=cache)
    return cache


TOKEN = torch.tensor([[7]])


@pytest.mark.filterwarnings("ignore")
def test_a_sliding_cache_that_grows():
    ort = pytest.importorskip("onnxruntime")
    model = decoder("Mistral", sliding_window=6)
    result = cameo.export(model, kwargs={"input_ids": TOKEN, "past_key_values": with_cache(model, 3)}, dynamic_axes={"past_key_values.*": {2: "past"}})
    session = ort.InferenceSession(result.model.to_bytes(), providers=["CPUExecutionProvider"])
    for length in (1, 2, 4):
        cache = with_cache(model, length)
        feeds = {"input_ids": TOKEN.numpy()}
        for i, layer in enumerate(cache.layers):
            feeds |= {f"past_key_values.{i}.keys": layer.keys.numpy(), f"past_key_values.{i}.values": layer.values.numpy()}
        with torch.no_grad():
            wanted = model(TOKEN, past_key_values=cache).logits
        torch.testing.assert_close(torch.from_numpy(session.run(None, feeds)[0]), wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_a_sliding_cache_that_is_full():
    model = decoder("Mistral", sliding_window=6)
    result = cameo.export(model, kwargs={"input_ids": TOKEN, "past_key_values": with_cache(model, 9)})
    told = [d.what for d in result.findings if d.code == "export.fixed-count"]
    assert result.verification.ok and len(told) == 1 and "has seen 9 tokens" in told[0]


LAYER = [{0: "b", 2: "past"}, {0: "b", 2: "past"}]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sizes", [[LAYER] * 2, [[LAYER[0]] * 2, [LAYER[1]] * 2], LAYER * 2, {"key_cache": LAYER, "value_cache": LAYER}], ids=["layers", "keys and values", "flat", "dict"])
def test_sizes_of_a_cache(sizes):
    model = decoder("Llama")
    result = cameo.export(model, kwargs={"input_ids": TOKEN, "past_key_values": with_cache(model, 3)}, dynamo=True, dynamic_shapes={"input_ids": {0: "b"}, "past_key_values": sizes})
    assert [i.shape for i in result.model.inputs][1:] == [["b", 1, "past", 8]] * 4 and result.verification.ok
