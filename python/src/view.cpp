// Models as pages and pictures, and the desk behind the page.
#include "cameo/view.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "cameo/page.h"
#include "cameo/publication.h"

namespace cameo::python {

namespace {

void make_server(PageServer* self, const std::string& name, nb::object model, const std::vector<std::string>& files,
                 nb::dict given) {
  Options o(std::move(given));
  ViewSettings settings{.files = files};
  if (!model.is_none()) settings.models.emplace_back(name, nb::cast<const Model&>(model));
  const int64_t port = o.integer("port", 0);
  if (port < 0 || port > UINT16_MAX) throw failure("use.value", "port is from 0 to 65535, not " + std::to_string(port));
  settings.port = static_cast<uint16_t>(port);
  settings.gone_seconds = o.number("gone_seconds").value_or(settings.gone_seconds);
  settings.threads = static_cast<int>(o.integer("threads", 0));
  o.finish();
  new (self) PageServer(settings);
}

void make_desk(Desk* self, const std::vector<std::string>& files, int threads, const std::string& out) {
  new (self) Desk({.files = files, .threads = threads, .out = out});
}

// (the reply as JSON, [bytes, ...])
nb::tuple ask(Desk& desk, const std::string& request, nb::list blobs, nb::object progress) {
  DeskCall with;
  std::vector<Buffer> results;
  with.results = &results;
  for (nb::handle b : blobs) with.given.push_back(buffer_of(b));
  with.progress = progress_of(std::move(progress));
  const std::string reply = released([&] { return desk.call(request, with); });
  nb::list out;
  for (const Buffer& b : results) out.append(nb::bytes(static_cast<const char*>(b.data), b.size));
  return nb::make_tuple(reply, out);
}

}  // namespace

void bind_view(nb::module_& m) {
  m.def("has_page", &has_page);
  m.def("picture_svg",
        [](const Model& model, bool open_all) { return released([&] { return picture_svg(model, open_all); }); });
  m.def("page_html",
        [](const Model& model, const std::string& name) { return released([&] { return page_html(model, name); }); });
  m.def("page_html", [](const std::string& file) { return released([&] { return page_html(file); }); });
  m.def("write_whole", [](const std::string& path, const std::string& text) {
    Publication files;
    files.open(path, {".html", ".svg"}).append(text);
    files.commit();
  });
  nb::class_<PageServer>(m, "PageServer")
      .def("__init__", &make_server, nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def_prop_ro("address", &PageServer::address)
      .def("run", [](PageServer& s) { released([&] { s.run(); }); })
      .def("stop", &PageServer::stop);
  nb::class_<Desk>(m, "Desk")
      .def("__init__", &make_desk)
      .def("allow", &Desk::allow)
      .def("offer", [](Desk& d, const std::string& name, const Model& model) { d.offer(name, model); })
      .def("ask", &ask, nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace cameo::python
