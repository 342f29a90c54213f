// Pages, pictures and the desk of include/cameo/c.h.
#include "api/c_calls.h"
#include "api/settings_json.h"

struct cameo_view {
  cameo::PageServer server;
  std::string address;
};
struct cameo_desk {
  cameo::Desk desk;
};
struct cameo_blobs {
  std::vector<cameo::Buffer> all;
};

using namespace cameo;
using namespace cameo::faces;

cameo_status cameo_picture(const cameo_model* model, int open_all, char** svg) {
  return give_text(svg, [&] { return picture_svg(need(model, "the model").model, open_all != 0); });
}
cameo_status cameo_page(const cameo_model* model, const char* name, char** html) {
  return give_text(html, [&] { return page_html(need(model, "the model").model, &need(name, "the name")); });
}

cameo_status cameo_open_view(const cameo_model* model, const char* name, const char* settings_json, cameo_view** out) {
  return guarded([&] {
    cameo_view*& target = place(out);
    ViewSettings how = view_settings(settings(settings_json));
    if (model) how.models.emplace_back(&need(name, "the name"), need(model, "the model").model);
    if (how.models.empty() && how.files.empty())
      throw error("use.model", "there is neither a model nor a file to show");
    PageServer server(how);
    const std::string address = server.address();
    target = given_out(new cameo_view{std::move(server), address});
  });
}
const char* cameo_view_address(const cameo_view* view) {
  return is_there(view, kind_of<cameo_view>) ? view->address.c_str() : "";
}
cameo_status cameo_run_view(cameo_view* view) {
  return guarded([&] {
    need(view, "the view");
    view->server.run();
  });
}
void cameo_stop_view(cameo_view* view) {
  if (is_there(view, kind_of<cameo_view>)) view->server.stop();
}
void cameo_release_view(cameo_view* view) { release(view); }

cameo_status cameo_open_desk(const char* settings_json, cameo_desk** out) {
  return guarded([&] {
    cameo_desk*& target = place(out);
    target = given_out(new cameo_desk{Desk(desk_settings(settings(settings_json)))});
  });
}
cameo_status cameo_allow(cameo_desk* desk, const char* path) {
  return guarded([&] {
    need(desk, "the desk");
    desk->desk.allow(&need(path, "the path"));
  });
}
cameo_status cameo_offer(cameo_desk* desk, const char* name, const cameo_model* model) {
  return guarded([&] {
    need(desk, "the desk");
    desk->desk.offer(&need(name, "the name"), need(model, "the model").model);
  });
}
cameo_status cameo_ask(cameo_desk* desk, const char* request_json, const cameo_blob* given, size_t given_count,
                       char** reply_json, cameo_blobs** results) {
  return guarded([&] {
    if (results) *results = nullptr;
    char*& target = place(reply_json);
    need(desk, "the desk");
    DeskCall with;
    for (size_t i = 0; i < given_count; ++i) {
      need(given, "the list of blobs");
      if (given[i].size) need(static_cast<const char*>(given[i].data), "a blob");
      // Copied: a model that is opened from it lives as long as the desk.
      const auto bytes = std::make_shared<std::string>(static_cast<const char*>(given[i].data), given[i].size);
      with.given.push_back({bytes, bytes->data(), bytes->size()});
    }
    auto blobs = std::make_unique<cameo_blobs>();
    if (results) with.results = &blobs->all;
    target = text_of(desk->desk.call(&need(request_json, "the request"), with));
    if (results) *results = given_out(blobs.release());
  });
}
size_t cameo_blob_count(const cameo_blobs* blobs) {
  return is_there(blobs, kind_of<cameo_blobs>) ? blobs->all.size() : 0;
}
cameo_status cameo_blob_at(const cameo_blobs* blobs, size_t i, cameo_blob* out) {
  return guarded([&] {
    cameo_blob& target = place(out);
    const auto& all = need(blobs, "the blobs").all;
    if (i >= all.size()) throw error("use.index", cat("there is no blob ", i, ": there are ", all.size()));
    target = {all[i].data, all[i].size};
  });
}
void cameo_release_blobs(cameo_blobs* blobs) { release(blobs); }
void cameo_release_desk(cameo_desk* desk) { release(desk); }
