"""A llama.cpp that crashes as builds with AMX do: at the first batch of more than one token.

The libraries that are installed are copied, and libllama.so is one that stands before the real one. llama-cpp-python
takes them with LLAMA_CPP_LIB_PATH.
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import llama_cpp.llama_cpp as c

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
struct params { _Alignas(8) unsigned char bytes[PARAMS]; };
struct batch { _Alignas(8) int tokens[BATCH]; };
static int extra_buffers = 1;

void *llama_model_load_from_file(const char *path, struct params params) {
    void *(*load)(const char *, struct params) = dlsym(RTLD_NEXT, "llama_model_load_from_file");
    extra_buffers = params.bytes[EXTRA];
    return load(path, params);
}

int llama_decode(void *context, struct batch batch) {
    int (*decode)(void *, struct batch) = dlsym(RTLD_NEXT, "llama_decode");
    if (batch.tokens[0] > 1 && (extra_buffers || ALWAYS)) raise(SIGSEGV);
    return decode(context, batch);
}
"""


def crashing_library(folder: Path, *, always: bool) -> Path:
    """Make such libraries in `folder`; unless `always`, they run without llama.cpp's extra buffers."""
    real = Path(c.__file__).parent / "lib"
    shutil.copytree(real, folder)
    source, target = folder / "crashing.c", folder / "libllama.so"
    source.write_text(SOURCE)
    target.unlink()
    sizes = {
        "PARAMS": ctypes.sizeof(c.llama_model_params),
        "EXTRA": vars(c.llama_model_params)["use_extra_bufts"].offset,
        "BATCH": ctypes.sizeof(c.llama_batch) // 4,
        "ALWAYS": int(always),
    }
    defined = [f"-D{name}={value}" for name, value in sizes.items()]
    linked = ["-Wl,--no-as-needed", "-L", str(folder), "-l:libllama.so.0", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", "-shared", "-fPIC", *defined, "-o", target, source, *linked], check=True)
    return folder
