"""Archives of a module: traced (.pt), scripted (.pt), or exported with torch.export (.pt2), as it is or decomposed."""
MODES = ("trace", "script", "export", "decompose")


def save(mode, module, inputs, stem, dynamic_batch=False, dynamic_sizes=False):
    """Writes STEM.pt or STEM.pt2 and gives its path.

    With dynamic_sizes, height and width or the length are open too where torch.export can keep them so."""
    import torch
    inputs = tuple(inputs)
    if mode in ("trace", "script"):
        made = torch.jit.script(module) if mode == "script" else torch.jit.trace(module, inputs, strict=False, check_trace=False)
        made.save(stem + ".pt")
        return stem + ".pt"
    shapes = None
    if dynamic_batch:
        batch = torch.export.Dim("batch")
        shapes = tuple({0: batch} if isinstance(t, torch.Tensor) and t.dim() else None for t in inputs)
    if dynamic_sizes:
        auto = torch.export.Dim.AUTO
        shapes = tuple({0: auto, 2: auto, 3: auto} if t.dim() == 4 else {0: auto, 1: auto} for t in inputs)
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    if mode == "decompose": program = program.run_decompositions()
    torch.export.save(program, stem + ".pt2")
    return stem + ".pt2"


def open_axes(archive):
    """The axes of the first user input that an archive keeps open."""
    import torch
    program = torch.export.load(archive)
    first = program.graph_signature.user_inputs[0]
    value = next(n for n in program.graph.nodes if n.name == first).meta["val"]
    return [i for i, size in enumerate(value.shape) if not isinstance(size, int)]


def disagreement(stderr):
    """Where Cameo staged another dtype or shape than the archive's own metadata tell, which no export may; else nothing."""
    return next((line[:160] for line in stderr.splitlines() if "[pt2.dtype]" in line or "[pt2.shape]" in line), "")
