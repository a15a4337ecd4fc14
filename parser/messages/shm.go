package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// shmPatterns are failures of /dev/shm outside of NCCL.
//
// "No space left on device" is a full disk unless the path says otherwise: POSIX shared memory names have one slash at
// the front and none behind it, torch's begin with /torch_ and hold the pid of their maker.
var shmPatterns = append(by(torch, torchSharedMemory), otherSharedMemory)

func torchSharedMemory() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "torch.shm",
			Literals: []string{"unable to resize file </torch_", "unable to write to file </torch_", "shared memory(shm) for file </torch_"},
			Expr:     `unable to (?:resize file|write to file|allocate shared memory\(shm\) for file) <(?<path>/torch_(?:(?<pid>\d+)_)?[^>/]{0,200})>(?: to the right size)?(?:\s*$| at |: (?:No space left on device|Cannot allocate memory)(?: \((?<errno>\d+)\))?|(?<=shm\).{0,240}): [A-Z][\w ]{2,80} \(\d{1,3}\))`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "data",
			Source: "torch 0.4-2.11 aten/src/ATen/MapAllocator.cpp (TH/THAllocator.cpp before 1.7: no errno); 'allocate' since 2.9, posix_fallocate: it does not set errno, so an older one is printed, mostly 11",
			Match: []pattern.Sample{
				{Line: `RuntimeError: unable to write to file </torch_739_144252761_4>: No space left on device (28)`, Want: parser.Fields{"path": "/torch_739_144252761_4", "pid": "739", "errno": "28"}},
				{Line: `RuntimeError: unable to resize file </torch_739_144252761_4> to the right size: No space left on device (28)`, Want: parser.Fields{"path": "/torch_739_144252761_4", "pid": "739", "errno": "28"}},
				{Line: `RuntimeError: unable to allocate shared memory(shm) for file </torch_2217_3004871_91>: No space left on device (28)`, Want: parser.Fields{"path": "/torch_2217_3004871_91", "pid": "2217", "errno": "28"}},
				{Line: `RuntimeError: unable to allocate shared memory(shm) for file </torch_211_3355029102_33>: Success (0)`, Want: parser.Fields{"path": "/torch_211_3355029102_33", "pid": "211"}},
				{Line: `RuntimeError: unable to allocate shared memory(shm) for file </torch_1381_2578921220_0>: Resource temporarily unavailable (11)`, Want: parser.Fields{"path": "/torch_1381_2578921220_0", "pid": "1381"}},
				{Line: `RuntimeError: unable to write to file </torch_76_3625483894> at /pytorch/aten/src/TH/THAllocator.c:383`, Want: parser.Fields{"path": "/torch_76_3625483894", "pid": "76"}},
			},
			NoMatch: []string{
				`RuntimeError: unable to write to file </data/cache/shard_12.bin>: No space left on device (28)`,
				`RuntimeError: unable to resize file </torch_739_144252761_4> to the right size: Invalid argument (22)`,
				`RuntimeError: unable to resize file </torch_739_144252761_4> to the right size: Success (0)`,
				`RuntimeError: unable to write to file </torch_739_144252761_4>: Resource temporarily unavailable (11)`,
			},
		},
		{
			Name:     "torch.shm_path",
			Literals: []string{"unable to resize file </dev/shm/", "unable to write to file </dev/shm/", "shared memory(shm) for file </dev/shm/"},
			Expr:     `unable to (?:resize file|write to file|allocate shared memory\(shm\) for file) <(?<path>/dev/shm/[^>]{1,200})>(?: to the right size)?(?:\s*$| at |: (?:No space left on device|Cannot allocate memory)(?: \((?<errno>\d+)\))?|(?<=shm\).{0,240}): [A-Z][\w ]{2,80} \(\d{1,3}\))`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence,
			Source:  "torch 0.4-2.11 aten/src/ATen/MapAllocator.cpp",
			Match:   []pattern.Sample{{Line: `RuntimeError: unable to resize file </dev/shm/cache_0> to the right size: No space left on device (28)`, Want: parser.Fields{"path": "/dev/shm/cache_0", "errno": "28"}}},
			NoMatch: []string{`RuntimeError: unable to write to file </data/cache/shard_12.bin>: No space left on device (28)`},
		},
		{
			Name:     "torch.shm_mmap",
			Literals: []string{"unable to mmap "},
			Expr:     `unable to mmap (?<requested_b>\d+) bytes from file <(?<path>/(?:torch_|dev/shm/)[^>]{0,200})>(?:\s*$| at |: (?:Cannot allocate memory|No space left on device) \((?<errno>\d+)\))`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "data",
			Source: "torch 1.7-2.11 aten/src/ATen/MapAllocator.cpp",
			Match:  []pattern.Sample{{Line: `RuntimeError: unable to mmap 29764 bytes from file </torch_10182_3020184674_63991>: Cannot allocate memory (12)`, Want: parser.Fields{"requested": "29764", "path": "/torch_10182_3020184674_63991", "errno": "12"}}},
		},
		{
			// A checkpoint on a disk, or a file descriptor whose name is not known: the address space, the commit limit
			// or the number of mappings ran out, not /dev/shm.
			Name:     "torch.mmap",
			Literals: []string{"unable to mmap "},
			Expr:     `unable to mmap (?<requested_b>\d+) bytes from file <(?!/torch_|/dev/shm/)(?<path>[^>]{1,400})>: Cannot allocate memory \((?<errno>12)\)`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "torch 1.7-2.11 aten/src/ATen/MapAllocator.cpp",
			Match: []pattern.Sample{
				{Line: `RuntimeError: unable to mmap 498818054 bytes from file </home/u/hub/model.safetensors>: Cannot allocate memory (12)`, Want: parser.Fields{"requested": "498818054", "path": "/home/u/hub/model.safetensors", "errno": "12"}},
				{Line: `RuntimeError: unable to mmap 704 bytes from file <filename not specified>: Cannot allocate memory (12)`, Want: parser.Fields{"requested": "704", "path": "filename not specified", "errno": "12"}},
			},
			NoMatch: []string{
				`RuntimeError: unable to mmap 498818054 bytes from file </home/u/hub/model.safetensors>: No such device (19)`,
			},
		},
		{
			Name:     "torch.mmap_old",
			Literals: []string{"unable to mmap memory: you tried to mmap "},
			Expr:     `unable to mmap memory: you tried to mmap (?<requested_gib>\d+) ?GB`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "torch 0.1-1.6 aten/src/TH/THAllocator.cpp; GB is 2^30",
			Match:  []pattern.Sample{{Line: `RuntimeError: $ Torch: unable to mmap memory: you tried to mmap 3GB. at /pytorch/aten/src/TH/THAllocator.cpp:406`, Want: parser.Fields{"requested": "3221225472"}}},
		},
		{
			// errno 24 is the limit on open files, 2 a race at shutdown: neither is memory.
			Name:     "torch.shm_open",
			Literals: []string{"unable to open shared memory object <"},
			Expr:     `unable to open shared memory object <(?<path>[^>]{1,256})> in [\w-]{1,20} mode: [^()]{1,80} \((?<errno>28|12)\)`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "data",
			Source: "torch 1.7-2.11 aten/src/ATen/MapAllocator.cpp",
			Match:  []pattern.Sample{{Line: `RuntimeError: unable to open shared memory object </torch_88_1> in read-write mode: No space left on device (28)`, Want: parser.Fields{"path": "/torch_88_1", "errno": "28"}}},
			NoMatch: []string{
				`RuntimeError: unable to open shared memory object </torch_88_1> in read-write mode: Too many open files (24)`,
				`RuntimeError: unable to open shared memory object </torch_88_1> in read-write mode: No such file or directory (2)`,
			},
		},
		{
			Name:     "torch.shm_open_old",
			Literals: []string{"unable to open shared memory object <"},
			Expr:     `unable to open shared memory object <(?<path>[^>]{1,256})> in [\w/-]{1,20} mode(?: at \S|\s*$)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Phase: "data",
			Source: "torch 0.4-1.6 aten/src/TH/THAllocator.cpp, which kept the errno to itself: no space in /dev/shm, or too many open files",
			Match: []pattern.Sample{
				{Line: `RuntimeError: unable to open shared memory object </torch_88_1> in read-write mode`, Want: parser.Fields{"path": "/torch_88_1"}},
				{Line: `RuntimeError: unable to open shared memory object </torch_88_1> in read/write mode at /pytorch/aten/src/TH/THAllocator.cpp:257`, Want: parser.Fields{"path": "/torch_88_1"}},
			},
			NoMatch: []string{`RuntimeError: unable to open shared memory object </torch_88_1> in read-write mode: Too many open files (24)`},
		},
	}
}

// otherSharedMemory are those of other programs that share memory between processes.
func otherSharedMemory() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "python.shm_enospc",
			Literals: []string{"[Errno 28] No space left on device: "},
			Expr:     `\[Errno 28\] No space left on device: (?:['"][^'"]{1,400}['"] -> )?['"](?<path>/dev/shm/[^'"]{1,200}|/?(?:torch_|psm_|sem\.|pymp-|mp-|wnsm_)[^'"/]{1,200})['"](?! -> )`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Set: map[string]string{"errno": "28"},
			Source: "CPython 3.8-3.14 Lib/multiprocessing/shared_memory.py, heap.py, synchronize.py; of a copy, Lib/shutil.py names the source and the copy",
			Match: []pattern.Sample{
				{Line: `OSError: [Errno 28] No space left on device: '/psm_21f3a9c4'`, Want: parser.Fields{"path": "/psm_21f3a9c4"}},
				{Line: `OSError: [Errno 28] No space left on device: '/dev/shm/pymp-8q2k1x_f/pym-77-abc'`, Want: parser.Fields{"path": "/dev/shm/pymp-8q2k1x_f/pym-77-abc"}},
				{Line: `OSError: [Errno 28] No space left on device: '/data/m/model-1.safetensors' -> '/dev/shm/m/model-1.safetensors'`, Want: parser.Fields{"path": "/dev/shm/m/model-1.safetensors"}},
			},
			NoMatch: []string{
				`OSError: [Errno 28] No space left on device`,
				`OSError: [Errno 28] No space left on device: '/tmp/pymp-8q2k1x_f'`,
				`OSError: [Errno 28] No space left on device: '/data/ckpt/model.pt'`,
				`OSError: [Errno 28] No space left on device: '/dev/shm/m/model-1.safetensors' -> '/data/m/model-1.safetensors'`, // the disk is full
			},
		},
		{
			Name:     "vllm.shm_space",
			Literals: []string{"Insufficient space in /dev/shm: "},
			Expr:     `\bInsufficient space in /dev/shm: (?<requested_mib>\d{1,6}) MiB required, (?<free_mib>\d{1,6}) MiB free`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "init",
			Source: "vLLM 0.25, distributed/device_communicators/shm_broadcast.py, check_shm_free_space",
			Match: []pattern.Sample{
				{Line: `RuntimeError: Insufficient space in /dev/shm: 160 MiB required, 64 MiB free.`, Want: parser.Fields{"requested": "167772160", "free": "67108864"}},
			},
			NoMatch: []string{`        f"Insufficient space in /dev/shm: {required} MiB required"`},
		},
		{
			Name:     "triton.shm_space",
			Literals: []string{"nable to initialize shared memory key '"},
			Expr:     `[Uu]nable to initialize shared memory key '(?<path>[^'\s]{1,200})' to requested size \((?<requested_b>\d{1,19}) bytes\)\..{0,400} Error: (?:No space left on device|Cannot allocate memory)`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "init",
			Source: "Triton 21.x-25.x, python_backend src/shm_manager.cc",
			Match: []pattern.Sample{
				{
					Line: `Unable to initialize shared memory key 'triton_python_backend_shm_region_2' to requested size (1048576 bytes). If you are running Triton inside docker, use '--shm-size' flag to control the shared memory region size. Each Python backend model instance requires at least 1 MB of shared memory. Error: No space left on device`,
					Want: parser.Fields{"path": "triton_python_backend_shm_region_2", "requested": "1048576"},
				},
			},
			NoMatch: []string{`Unable to initialize shared memory key 'triton_python_backend_shm_region_2' to requested size (1048576 bytes). Error: File exists`},
		},
		{
			Name:     "shm.enospc",
			Literals: []string{"/dev/shm"},
			Expr:     `(?<path>/dev/shm(?:/[^\s'"<>,:]{1,200})?)['"]?:? No space left on device(?: \((?<errno>28)\))?`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence,
			Source: "coreutils, rsync, shells and C++ libraries that print perror(3) behind a path",
			Match: []pattern.Sample{
				{Line: `cp: error writing '/dev/shm/model.bin': No space left on device`, Want: parser.Fields{"path": "/dev/shm/model.bin"}},
				{Line: `rsync: write failed on "/dev/shm/w.safetensors": No space left on device (28)`, Want: parser.Fields{"path": "/dev/shm/w.safetensors", "errno": "28"}},
			},
			NoMatch: []string{
				`cp: error writing '/scratch/model.bin': No space left on device`,
				`/dev/shm from dshm (rw)`,
				`tmpfs            64M     0   64M   0% /dev/shm`,
			},
		},
		{
			Name:     "shm.mounted",
			Literals: []string{"% /dev/shm"},
			Expr:     `^\S{1,80} +(?:(?<shm_sz>\d{1,4}(?:\.\d)?[KMGT]i?)|(?<shm_kib>\d{2,12})) +\S{1,14} +\S{1,14} +(?<shm_percent>\d{1,3})% /dev/shm\s*$`,
			Gauge:    true, Source: "coreutils df, df -k and df -h: the size of /dev/shm, and how much of it is in use",
			Match: []pattern.Sample{
				{Line: "shm              64M   62M  2.1M  97% /dev/shm", Want: parser.Fields{"shm": "67108864", "shm_percent": "97"}},
				{Line: "tmpfs            1048576     0   1048576   0% /dev/shm", Want: parser.Fields{"shm": "1073741824", "shm_percent": "0"}},
			},
			NoMatch: []string{"/dev/nvme2n1    492G   31G  462G   7% /data", "tmpfs  64M 0 64M 0% /dev/shm/cache"},
		},
		{
			Name:     "openmpi.shm",
			Literals: []string{"there is not enough space for /"},
			Expr:     `there is not enough space for (?<path>/dev/shm/\S{1,200})`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence,
			Source:  "Open MPI 3-5 opal/mca/shmem/help-opal-shmem-mmap.txt",
			Match:   []pattern.Sample{{Line: `It appears as if there is not enough space for /dev/shm/vader_segment.n01.3e8.1 (the shared-memory backing`, Want: parser.Fields{"path": "/dev/shm/vader_segment.n01.3e8.1"}}},
			NoMatch: []string{`there is not enough space for /tmp/checkpoint`},
		},
	}
}
