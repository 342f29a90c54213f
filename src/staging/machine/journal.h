// Taking back. Every part that an attempt at a piece of the program may change registers with the machine's journals,
// once, in its constructor. An attempt is the marks of all of them; there is no list of members anywhere.
#pragma once

#include <any>
#include <memory>
#include <vector>

#include "support/error.h"

namespace cameo::staging {

// What all parts were at one moment.
class Attempt {
 private:
  friend class Journals;
  std::vector<std::any> marks_;
};

class Journals {
 public:
  Journals() = default;
  Journals(const Journals&) = delete;  // parts keep their places

  // A part has `mark()`, which is cheap, and `rewind(mark)`, which costs what changed since. It stays where it is for
  // as long as attempts are made.
  template <class Part>
  void add(Part& part) {
    all_.push_back(std::make_unique<Of<Part>>(part));
  }
  size_t size() const { return all_.size(); }

  Attempt attempt();
  void take_back(const Attempt& a);

 private:
  struct Journal {
    virtual ~Journal() = default;
    virtual std::any mark() = 0;
    virtual void rewind(const std::any& mark) = 0;
  };
  template <class Part>
  struct Of final : Journal {
    explicit Of(Part& p) : part(p) {}
    std::any mark() override { return part.mark(); }
    void rewind(const std::any& mark) override {
      part.rewind(*std::any_cast<decltype(std::declval<Part&>().mark())>(&mark));
    }
    Part& part;
  };
  std::vector<std::unique_ptr<Journal>> all_;
};

}  // namespace cameo::staging
