"""Takes regions as the tape does, but for some: wind.py FOLDER ODD.

Declines what no tape takes, and regions whose hash is a multiple of ODD, if that is not 0.
"""

import sys
import zlib

import phaseline_hook

sys.path.insert(0, sys.argv[1])
from write import write  # noqa: E402

ODD = int(sys.argv[2])


def shape(region):
    """Key of a region, without the numbers of its constants."""
    return repr([(step.name, [value.shape for value in step.inputs()]) for step in region.operations])


def wind(request):
    if ODD and zlib.crc32(shape(request.region).encode()) % ODD == 0:
        phaseline_hook.decline("its hash is odd")
    write(request)
    request.cost(100 * len(request.region.operations))


phaseline_hook.serve(wind)
