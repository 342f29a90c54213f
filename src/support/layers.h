// The layers' namespaces (docs/layers.md): each sees the names of those below it. `cameo` itself has only the public
// names.
#pragma once

namespace cameo {

namespace support {}
namespace formats {
using namespace support;
}
namespace ir {
using namespace formats;
}
namespace kernels {
using namespace ir;
}
namespace ops {
using namespace kernels;
}
namespace frontends {
using namespace ops;
}
namespace lowering {
using namespace ops;
}
namespace passes {
using namespace ops;
}
namespace staging {
using namespace frontends;
using namespace lowering;
using namespace passes;
}  // namespace staging
namespace backends {
using namespace frontends;
using namespace passes;
}  // namespace backends
namespace runtime {
using namespace backends;
}
namespace engine {
using namespace runtime;
}
namespace api {
using namespace engine;
using namespace staging;
}  // namespace api

// Parts of a layer with names of their own.
namespace pb {
using namespace formats;
}
namespace zip {
using namespace formats;
}
namespace npy {
using namespace formats;
}
namespace json {
using namespace formats;
}
namespace pickle {
using namespace formats;
}
namespace op {
using namespace ir;
}  // namespace op
namespace text {
using namespace frontends;
}
namespace torchscript {
using namespace frontends;
}
namespace pt2 {
using namespace frontends;
}
namespace onnx {
using namespace backends;
}

// These see everything.
namespace tests {
using namespace api;
}
namespace cli {
using namespace api;
}
namespace python {
using namespace api;
}

}  // namespace cameo
