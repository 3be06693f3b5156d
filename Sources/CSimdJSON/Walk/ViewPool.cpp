#include <mutex>
#include <vector>

#include "Arena.hpp"

namespace csj {

static std::mutex pool_mutex;
static std::vector<csj_view *> &pool() {
    // Never destroyed: a record may be looked at (and refused) while the process is on its way out.
    static std::vector<csj_view *> *views = new std::vector<csj_view *>;
    return *views;
}

csj_view *obtain_view() {
    std::lock_guard<std::mutex> hold(pool_mutex);
    if (pool().empty()) { return new csj_view(); }
    csj_view *view = pool().back();
    pool().pop_back();
    return view;
}

void return_view(csj_view *view) {
    // The generation goes on counting where it is: a record of the reader before stays out of date.
    csj_view empty{};
    empty.generation = view->generation + 1;
    *view = empty;
    std::lock_guard<std::mutex> hold(pool_mutex);
    pool().push_back(view);
}

}  // namespace csj
