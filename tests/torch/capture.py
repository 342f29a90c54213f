"""Archives of a module: traced (.pt), scripted (.pt), or exported with torch.export (.pt2), as it is or decomposed."""
MODES = ("trace", "script", "export", "decompose")


def save(mode, module, inputs, stem, dynamic_batch=False):
    """Writes STEM.pt or STEM.pt2 and gives its path."""
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
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    if mode == "decompose": program = program.run_decompositions()
    torch.export.save(program, stem + ".pt2")
    return stem + ".pt2"
