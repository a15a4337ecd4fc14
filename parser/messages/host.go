package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// hostPatterns are failed allocations of host memory, whoever asked: torch's CPU allocator, numpy, Python, C++, libc,
// the JVM, Node and Go.
var hostPatterns = []table{pythonHostPatterns, nativeHostPatterns, runtimeHostPatterns}

func pythonHostPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "host.torch_cpu",
			Program:  pattern.Program{Name: "torch", Framework: "torch"},
			Literals: []string{"DefaultCPUAllocator: "},
			Expr:     `DefaultCPUAllocator: (?:can't allocate memory|not enough memory)(?:: you tried to (?:re)?allocate (?<requested_b>\d{1,19})(?! ?GB| ?\d))?`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "PyTorch 1.1 and later, c10/core/impl/alloc_cpu.cpp (CPUAllocator.cpp before 1.12); Windows and Android say \"not enough memory\"",
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 151934468096 bytes. Error code 12 (Cannot allocate memory)",
					Want: parser.Fields{"requested": "151934468096"},
				},
				{Line: "RuntimeError: [enforce fail at CPUAllocator.cpp:65] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4096 bytes. Error code 12 (Cannot allocate memory)", Want: parser.Fields{"requested": "4096"}},
				{Line: "RuntimeError: [enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to allocate 6553600 bytes.", Want: parser.Fields{"requested": "6553600"}},
				{Line: "DefaultCPUAllocator: not enough memory: you tried to allocate 25165824 bytes. Buy new RAM!", Want: parser.Fields{"requested": "25165824"}},
			},
		},
		{
			Name:     "host.caffe2_cpu",
			Program:  pattern.Program{Name: "torch", Framework: "torch"},
			Literals: []string{"posix_memalign(&data, gAlignment, nbytes) == 0. 12 vs 0"},
			Expr:     `\[enforce fail at \w{1,40}\.(?:cc|cpp):\d{1,6}\] posix_memalign\(&data, gAlignment, nbytes\) == 0\. (?<errno>12) vs 0`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "PyTorch 1.0 and 1.1, c10/core/CPUAllocator.cpp; Caffe2, core/allocator.cc",
			Match: []pattern.Sample{
				{Line: "RuntimeError: [enforce fail at CPUAllocator.cpp:56] posix_memalign(&data, gAlignment, nbytes) == 0. 12 vs 0", Want: parser.Fields{"errno": "12"}},
			},
			NoMatch: []string{"RuntimeError: [enforce fail at CPUAllocator.cpp:56] posix_memalign(&data, gAlignment, nbytes) == 0. 22 vs 0"},
		},
		{
			Name:     "host.torch_th",
			Program:  pattern.Program{Name: "torch", Framework: "torch"},
			Literals: []string{"$ Torch: not enough memory"},
			Expr:     `\$ Torch: not enough memory: you tried to (?:re)?allocate (?:0|(?<requested_gib>[1-9]\d{0,7}))GB`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "PyTorch to 1.0, TH/THGeneral.cpp: whole GiB, rounded down, so 0GB tells nothing",
			Match: []pattern.Sample{
				{Line: "RuntimeError: $ Torch: not enough memory: you tried to allocate 12GB. Buy new RAM! at /pytorch/aten/src/TH/THGeneral.cpp:201", Want: parser.Fields{"requested": "12884901888"}},
				{Line: "RuntimeError: $ Torch: not enough memory: you tried to reallocate 0GB. Buy new RAM! at ../aten/src/TH/THGeneral.cpp:271"},
			},
		},
		{
			Name:     "host.npu_pinned",
			Literals: []string{"Malloc pin memory failed"},
			Expr:     `Malloc pin memory failed, host out of memory(?:, [RT]ried to allocate size: (?<requested_b>\d{1,19}))?(?:, total_allocated_memory: (?<allocated_b>\d{1,19}))?(?:, total_reserved_memory: (?<reserved_b>\d{1,19}))?`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/CachingHostAllocator.cpp (\"Rried\" is the program's own spelling)",
			Match: []pattern.Sample{{
				Line: "RuntimeError: Malloc pin memory failed, host out of memory, Rried to allocate size: 8589934592, total_allocated_memory: 17179869184, total_reserved_memory: 21474836480",
				Want: parser.Fields{"requested": "8589934592", "allocated": "17179869184", "reserved": "21474836480"},
			}},
		},
		{
			Name:     "host.numpy",
			Literals: []string{"Unable to allocate ", "unable to allocate "},
			Expr:     `[Uu]nable to allocate (?:(?<requested_sz>` + torchSize + `) for an )?array with shape \(`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "numpy, numpy/_core/_exceptions.py (_ArrayMemoryError since 1.17; 1.16 printed no size); three digits, a trailing dot included",
			Match: []pattern.Sample{
				{Line: "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 745. MiB for an array with shape (195264, 1000) and data type float32", Want: parser.Fields{"requested": "781189120"}},
				{Line: "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.50 GiB for an array with shape (1006632960,) and data type float64", Want: parser.Fields{"requested": "8053063680"}},
				{Line: "MemoryError: Unable to allocate array with shape (5000000, 4096) and data type float32"},
			},
			NoMatch: []string{
				"srun: error: Unable to allocate resources: Requested node configuration is not available",
				"error loading model: unable to allocate CUDA0 buffer",
			},
		},
		{
			Name:     "host.memory_error",
			Literals: []string{"MemoryError"},
			Expr: `MemoryError(?:` + // what stands before it is looked at last: few messages get as far
				`(?=\s*$|:?\s*Traceback \(most recent call last\):\s*$)(?<=^\s{0,2}(?:numpy\.[\w.]{1,40}\._Array)?MemoryError)` + // the newline is a write of its own; behind a colon, the message follows
				`|(?=(?:\(\))?\s*$)(?<=(?:\b(?:failed|exhausted|died|exited|crashed|aborted|errored)\b[^:'"]{0,40}|^[\w./-]{1,200}/[\w.-]{1,80}): MemoryError)` +
				`|(?<![A-Za-z_]MemoryError): (?!\s*$|[Uu]nable to allocate (?:` + torchSize + ` for an )?array|.{0,40}std::bad_alloc|.{0,80}(?:CUDA|cuda|GPU|[dD]evice|cuMem|AMD|\bNV\b|METAL)|Cannot allocate \d{1,19} bytes: no memory|#)\S)`,
			Kind: parser.HostOOM, Role: parser.Evidence,
			Source: "CPython: the class alone, or with whatever the raiser says",
			Match: lines(
				"MemoryError",
				"numpy.core._exceptions._ArrayMemoryError",
				"MemoryErrorTraceback (most recent call last):",
				"MemoryError: Unable to allocate internal buffer.",
				"/opt/sandbox/train.py: MemoryError",
				"worker 3 died: MemoryError()",
				"lmdb.MemoryError: /data/train.lmdb: Cannot allocate memory",
			),
			NoMatch: []string{
				"ray.exceptions.RayTaskError(MemoryError): ray::reader() (pid=1, ip=10.0.0.1)",
				"    except MemoryError:",
				"        MemoryError",
				"Raises: MemoryError",
				"pyarrow.lib.ArrowMemoryError: malloc of size 64 failed",
				"MemoryError: std::bad_alloc: cudaErrorMemoryAllocation: out of memory",
			},
		},
		{
			Name:     "host.pandas_tokenizer",
			Literals: []string{"C error: out of memory"},
			Expr:     `\bC error: out of memory`,
			Kind:     parser.HostOOM, Role: parser.Evidence, Phase: "data",
			Source:  "pandas, _libs/src/parser/tokenizer.c: read_csv could not grow its buffers; it prints no sizes",
			Match:   lines("pandas.errors.ParserError: Error tokenizing data. C error: out of memory"),
			NoMatch: []string{"pandas.errors.ParserError: Error tokenizing data. C error: Expected 5 fields in line 3, saw 6"},
		},
		{
			Name:     "host.arrow",
			Literals: []string{"alloc of size ", "Memory mapping file failed", "ArrowMemoryError"},
			Expr:     `\b(?:malloc|realloc|calloc) of size (?<requested_b>\d{1,19}) failed|Memory mapping file failed: Cannot allocate memory|^\s{0,8}pyarrow\.lib\.ArrowMemoryError:?\s*$`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "pyarrow, cpp/src/arrow/memory_pool.cc; the second is arrow's mmap, which a map count or address limit stops too; to 0.10 the class alone",
			Match: []pattern.Sample{
				{Line: "pyarrow.lib.ArrowMemoryError: realloc of size 8589934592 failed", Want: parser.Fields{"requested": "8589934592"}},
				{Line: "OSError: Memory mapping file failed: Cannot allocate memory"},
				{Line: "pyarrow.lib.ArrowMemoryError"},
			},
		},
	}
}

func nativeHostPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "host.bad_alloc",
			Literals: []string{"std::bad_alloc"},
			Expr:     `(?:instance of '|what\(\): {1,2}|[Ee]rror: |[Ee]xception: |[Ee]rror\('|ERROR\]?:? |(?:\b[Ff]ailed|\bFATAL|\b[Ff]atal|\b[Pp]anic)\b[^'"]{0,80}: )std::bad_alloc(?!: ?\S|[\w&])`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "C++ runtime and pybind11",
			Match: lines(
				"terminate called after throwing an instance of 'std::bad_alloc'",
				"  what():  std::bad_alloc",
				"RuntimeError: std::bad_alloc",
				"[ERROR] std::bad_alloc",
				"Failed to load the model: std::bad_alloc",
				"MemoryError: std::bad_alloc",
			),
			NoMatch: []string{
				"MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /opt/x.hpp:69: cudaErrorMemoryAllocation out of memory",
				"terminate called after throwing an instance of 'std::bad_array_new_length'",
				"} catch (std::bad_alloc& e) {",
			},
		},
		{
			Name:     "host.enomem",
			Literals: []string{"annot allocate memory"},
			Expr: `(?:\[Errno (?<errno>12)\] |Os \{ code: (?<errno>12), kind: \w{1,40}, message: "|\b(?:v?fork|clone|mmap|mremap|posix_spawn|posix_memalign|popen|malloc|calloc|realloc|brk|execve?|pthread_create|retry|exec|spawn|mdb_env_open)(?:\(\))?[^:;]{0,60}: (?:[Ff]ailed: |error: )?)[Cc]annot allocate memory(?! in static TLS)` +
				`(?<!NCCL (?:WARN|INFO) .{0,300}|ibv_.{0,200}|unable to mmap.{0,200})` +
				`|^cannot allocate memory for thread-local data: ABORT|Cannot allocate memory \(os error (?<errno>12)\)|error while loading shared libraries: [^:]{1,200}: (?:failed to map segment from shared object: )?[Cc]annot allocate memory|virtual memory exhausted`,
			Kind: parser.HostOOM, Role: parser.Evidence,
			Source: "libc's ENOMEM through CPython's OSError, Rust's std::io::Error, shells, the dynamic loader and compilers",
			Match: []pattern.Sample{
				{Line: "OSError: [Errno 12] Cannot allocate memory", Want: parser.Fields{"errno": "12"}},
				{Line: "-bash: fork: Cannot allocate memory"},
				{Line: `on an Err value: Os { code: 12, kind: OutOfMemory, message: "Cannot allocate memory" }`, Want: parser.Fields{"errno": "12"}},
				{Line: "OSError: Cannot allocate memory (os error 12)", Want: parser.Fields{"errno": "12"}},
				{Line: "/bin/sh: fork: retry: Cannot allocate memory"},
				{Line: "cannot allocate memory for thread-local data: ABORT"},
				{Line: "python3: error while loading shared libraries: libtorch_cuda.so: failed to map segment from shared object: Cannot allocate memory"},
				{Line: "cc1plus: virtual memory exhausted: Cannot allocate memory"},
			},
			NoMatch: []string{
				"node-a:1:2 [0] misc/ibvwrap.cc:201 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
				"bash: fork: retry: Resource temporarily unavailable",
				"RuntimeError: unable to mmap 4096 bytes from file </torch_1_2_3>: Cannot allocate memory (12)",
			},
		},
		{
			// The commit limit, memory and paging file together. The number is what stays the same in every language.
			Name:     "host.windows_commit",
			Literals: []string{"[WinError 1455]", "(os error 1455)", "paging file is too small"},
			Expr:     `\[WinError (?<errno>1455)\]|\(os error (?<errno>1455)\)|[Tt]he paging file is too small for this operation to complete`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "Windows ERROR_COMMITMENT_LIMIT, through CPython's OSError and ImportError, Rust's std::io::Error (safetensors)",
			Match: []pattern.Sample{
				{Line: `OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "C:\env\lib\site-packages\torch\lib\cufft64_10.dll" or one of its dependencies.`, Want: parser.Fields{"errno": "1455"}},
				{Line: "OSError: Die Auslagerungsdatei ist zu klein. (os error 1455)", Want: parser.Fields{"errno": "1455"}},
				{Line: "ImportError: DLL load failed: The paging file is too small for this operation to complete."},
			},
			NoMatch: []string{"OSError: [WinError 126] The specified module could not be found."},
		},
		{
			Name:     "host.rust",
			Literals: []string{" bytes failed"},
			Expr:     `memory allocation of (?<requested_b>\d{1,19}) bytes failed`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "Rust's alloc error handler (tokenizers, safetensors, polars), before it aborts",
			Match:  []pattern.Sample{{Line: "memory allocation of 17179869184 bytes failed", Want: parser.Fields{"requested": "17179869184"}}},
		},
		{
			Name:     "host.tools",
			Literals: []string{"memory exhausted", "alloc: cannot allocate ", "ut of memory!", "ut of memory allocating ", ">: Error in malloc", "LLVM ERROR: out of memory", "fatal: Out of memory, "},
			Expr: `^(?:\S{1,80}: )?(?:memory exhausted(?: by input buffer of size (?<requested_b>\d{1,19}))?|Out of memory!(?:\s*$| Callback| Yes))` +
				`|\bx(?:m|re)alloc: cannot allocate (?<requested_b>\d{1,19}) bytes|out of memory allocating (?<requested_b>\d{1,19}) bytes after a total of|<jemalloc>: Error in malloc\(\): out of memory` +
				`|LLVM ERROR: out of memory|final link failed: memory exhausted|^fatal: Out of memory, \w{1,7} failed \(tried to allocate (?<requested_b>\d{1,19}) bytes\)`,
			Kind: parser.HostOOM, Role: parser.Evidence,
			Source: "grep, sort, dd, perl, bash, gcc, jemalloc, LLVM (numba, Triton), ld, git",
			Match: []pattern.Sample{
				{Line: "dd: memory exhausted by input buffer of size 68719476736 bytes (64 GiB)", Want: parser.Fields{"requested": "68719476736"}},
				{Line: "grep: memory exhausted"},
				{Line: "Out of memory!"},
				{Line: "/var/spool/slurmd/job00042/slurm_script: xrealloc: cannot allocate 15921152 bytes", Want: parser.Fields{"requested": "15921152"}},
				{Line: "LLVM ERROR: out of memory"},
				{Line: "/usr/bin/ld: final link failed: memory exhausted"},
				{Line: "fatal: Out of memory, malloc failed (tried to allocate 524288000 bytes)", Want: parser.Fields{"requested": "524288000"}},
				{Line: "cc1plus: out of memory allocating 65536 bytes after a total of 4096000 bytes", Want: parser.Fields{"requested": "65536"}},
			},
			NoMatch: []string{"CUDA out of memory! reduce the batch size"},
		},
		{
			Name:     "host.science",
			Literals: []string{"Could not allocate memory", "cannot allocate vector of size ", "Out of Memory Error: failed to ", "Out of Memory Error: could not ", " bytes for array ", "emory allocation still failed after ", "OpenBLAS: malloc failed in "},
			Expr: `(?:mujoco\.FatalError|engine error): Could not allocate memory|^Error: cannot allocate vector of size (?<requested_sz>[\d.]{1,16} [KMG]b)` +
				`|Out of Memory Error: (?:failed to (?:allocate data|pin block)|could not allocate block) of size (?<requested_sz>` + torchSize + `) \((?<used_sz>` + torchSize + `)/(?<limit_sz>` + torchSize + `) used\)` +
				`|ERROR on proc \d{1,9}: Failed to (?:re)?allocate (?<requested_b>\d{1,19}) bytes for array ` +
				`|OpenBLAS.{0,20}: (?:malloc failed in \w{1,40}|Memory allocation still failed after \d{1,3} retries)`,
			Kind: parser.HostOOM, Role: parser.Evidence,
			Source: "MuJoCo, engine_io.c; R, main/memory.c; DuckDB, which keeps to its own memory_limit; LAMMPS, memory.cpp; OpenBLAS, driver/level3, driver/others/memory.c",
			Match: []pattern.Sample{
				{Line: "mujoco.FatalError: Could not allocate memory"},
				{Line: "Error: cannot allocate vector of size 12.3 Gb", Want: parser.Fields{"requested": "13207024435"}},
				{Line: "duckdb.duckdb.OutOfMemoryException: Out of Memory Error: failed to pin block of size 256.0 KiB (1.8 GiB/2.0 GiB used)", Want: parser.Fields{"requested": "262144", "used": "1932735283", "limit": "2147483648"}},
				{Line: "duckdb.duckdb.OutOfMemoryException: Out of Memory Error: could not allocate block of size 256.0 KiB (12.5 GiB/12.5 GiB used)", Want: parser.Fields{"requested": "262144", "used": "13421772800", "limit": "13421772800"}},
				{Line: "OpenBLAS: malloc failed in gemm_driver"},
				{Line: "OpenBLAS : Memory allocation still failed after 10 retries, giving up."},
				{Line: "ERROR on proc 0: Failed to allocate 34359738368 bytes for array atom:x (src/memory.cpp:66)", Want: parser.Fields{"requested": "34359738368"}},
			},
			NoMatch: []string{"mujoco.FatalError: mj_stackAlloc: out of memory, stack overflow at mj_collision, line 290"}, // its own arena
		},
		{
			Name:     "host.opencv",
			Literals: []string{"OutOfMemoryError"},
			Expr:     `Failed to allocate (?<requested_b>\d{1,19}) bytes(?:\)| in function).{0,60}OutOfMemoryError`,
			Kind:     parser.HostOOM, Role: parser.Evidence, Phase: "data", Set: map[string]string{"library": "opencv"},
			Source: "OpenCV 2-4, modules/core/src/alloc.cpp; a size beyond all bounds is an overflow",
			Match: []pattern.Sample{
				{Line: "cv2.error: OpenCV(4.5.2) /io/opencv/modules/core/src/alloc.cpp:73: error: (-4:Insufficient memory) Failed to allocate 921600 bytes in function 'cv::OutOfMemoryError'", Want: parser.Fields{"requested": "921600"}},
				{Line: "OpenCV Error: Insufficient memory (Failed to allocate 2359296 bytes) in cv::OutOfMemoryError, file alloc.cpp, line 55", Want: parser.Fields{"requested": "2359296"}},
			},
		},
		{
			Name:     "host.compiler_killed",
			Literals: []string{"Killed signal terminated program", "(program cc1plus)", "died due to signal 9"},
			Expr:     `fatal error: Killed signal terminated program (?<comm>[\w.+-]{1,40})|internal compiler error: Killed \(program (?<comm>[\w.+-]{1,40})\)|nvcc error\s{1,8}: '(?<comm>[\w.+-]{1,40})' died due to signal 9\b`,
			Kind:     parser.OOMKill, Role: parser.Suspicion,
			Source: "the drivers of gcc and nvcc: their compiler got SIGKILL (extensions built with too many jobs)",
			Match: []pattern.Sample{
				{Line: "c++: fatal error: Killed signal terminated program cc1plus", Want: parser.Fields{"comm": "cc1plus"}},
				{Line: "nvcc error   : 'cicc' died due to signal 9 (Kill signal)", Want: parser.Fields{"comm": "cicc"}},
				{Line: "c++: internal compiler error: Killed (program cc1plus)", Want: parser.Fields{"comm": "cc1plus"}},
			},
		},
	}
}

func runtimeHostPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "host.go",
			Literals: []string{"fatal error: runtime: ", "fatal error: out of memory"},
			Expr:     `fatal error: (?:runtime: (?:out of memory|cannot allocate memory)|out of memory)`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "Go's runtime (wandb-core, container tools)",
			Match:  lines("fatal error: runtime: out of memory", "fatal error: runtime: cannot allocate memory"),
		},
		{
			Name:     "host.jvm",
			Literals: []string{"java.lang.OutOfMemoryError: "},
			Expr:     `java\.lang\.OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded|Direct buffer memory|Metaspace|Requested array size exceeds VM limit|Cannot reserve (?<requested_b>\d{1,19}) bytes of direct buffer)`,
			Kind:     parser.HostOOM, Role: parser.Suspicion,
			Set:    map[string]string{"library": "jvm"},
			Source: "the JVM's own heap limit (Spark, HDFS client): another program than the job, and no sign that the node ran out",
			Match: lines(
				"java.lang.OutOfMemoryError: Java heap space",
				`Exception in thread "main" java.lang.OutOfMemoryError: GC overhead limit exceeded`,
			),
			NoMatch: []string{"java.lang.OutOfMemoryError: unable to create new native thread"},
		},
		{
			Name:     "host.jvm_native",
			Literals: []string{"insufficient memory for the Java Runtime", "Native memory allocation (", "INFO: os::commit_memory("},
			Expr: `insufficient memory for the Java Runtime Environment|Native memory allocation \(\w{1,20}\) failed to (?:map|allocate) (?<requested_b>\d{1,19}) bytes` +
				`|INFO: os::commit_memory\(0x[0-9a-f]{1,16}, (?<requested_b>\d{1,19})(?:, \d{1,19})?, \d\) failed; error='[^']{1,80}' \(err(?:no|or)=12\)`,
			Kind: parser.HostOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "jvm"},
			Source: "HotSpot, hs_err header and os_linux.cpp: the system refused",
			Match: []pattern.Sample{
				{Line: "# There is insufficient memory for the Java Runtime Environment to continue."},
				{Line: "# Native memory allocation (mmap) failed to map 716177408 bytes for committing reserved memory.", Want: parser.Fields{"requested": "716177408"}},
				{
					Line: "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x0000000085330000, 2060255232, 0) failed; error='Cannot allocate memory' (errno=12)",
					Want: parser.Fields{"requested": "2060255232"},
				},
			},
		},
		{
			Name:     "host.node",
			Literals: []string{"JavaScript heap out of memory"},
			Expr:     `(?:Reached heap limit|invalid array length|CALL_AND_RETRY_LAST|Ineffective mark-compacts near heap limit)? ?Allocation failed - JavaScript heap out of memory`,
			Kind:     parser.Pressure, Role: parser.Context,
			Set:    map[string]string{"library": "node"},
			Source: "V8's own heap limit, in a user interface beside the job (wandb, tensorboard)",
			Match:  lines("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"),
		},
		{
			Name:     "host.container_limit_exit",
			Literals: []string{"container exceeded its memory limit", "container killed due to out of memory"},
			Expr:     `(?<!["'\w])(?:container exceeded its memory limit(?: \(OOM\))?, exit code:? 137\b|exit code:? 137: container killed due to out of memory)`,
			Also:     []string{"host.container_limit"},
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "hosted runners that name the exit status of the kill, too: Modal, SageMaker",
			Match: lines(
				"Runner terminated: container exceeded its memory limit (OOM), exit code 137",
				"AlgorithmError: , exit code: 137: container killed due to out of memory",
			),
			NoMatch: []string{"Task 4 was OOM-killed (limit 32 GiB)", "Runner terminated: container exceeded its memory limit"},
		},
		{
			Name:     "host.container_limit",
			Literals: []string{"exceeded its memory limit", "exceeding its memory limit", "exceeded the memory limit", "killed due to out of memory", "OOM-killed: ", "OOM-killed ("},
			Expr: `(?<!["'\w])(?:[Cc]ontainer|[Rr]unner|[Tt]ask|[Pp]rocess|[Jj]ob|[Pp]od|[Ww]orker|[Ff]unction|[Rr]eplica)\b[^"'` + "`" + `]{0,80}` +
				`(?:exceed(?:ed|ing) (?:its|the) memory limit|killed due to out of memory|OOM-killed(?:: | \())`,
			Kind: parser.OOMKill, Role: parser.Suspicion,
			Source: "how hosted runners put it: Modal, SageMaker, Cloud Run, Databricks",
			Match: lines(
				"Runner terminated: container exceeded its memory limit",
				"Task 4 was OOM-killed (limit 32 GiB)",
			),
			NoMatch: []string{`raise OOM("container exceeded its memory limit")`, "If the container exceeds its memory limit, it is terminated."},
		},
		{
			Name:     "host.cloud_run",
			Literals: []string{"Memory limit of "},
			Expr:     `Memory limit of (?<limit_sz>\d{1,9}(?:\.\d{1,3})? ?[KMG]i?B?) exceeded with (?<used_sz>\d{1,9}(?:\.\d{1,3})? ?[KMG]i?B?) used\b`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Google Cloud Run and its functions: the instance is terminated [pub-dev issue 9554]",
			Match: []pattern.Sample{
				{Line: "Memory limit of 512 MiB exceeded with 516 MiB used. Consider increasing the memory limit, see https://cloud.google.com/run/docs/configuring/memory-limits", Want: parser.Fields{"limit": "536870912", "used": "541065216"}},
				{Line: "Memory limit of 953M exceeded with 967M used. Consider increasing the memory limit", Want: parser.Fields{"limit": "999292928", "used": "1013972992"}},
			},
		},
		{
			Name:     "host.yarn",
			Literals: []string{"killed by YARN for exceeding", "beyond physical memory limit", "beyond virtual memory limit", "beyond the 'PHYSICAL' memory limit", "beyond the 'VIRTUAL' memory limit"},
			Expr: `(?:(?<=\bLost executor \d{1,6} on (?<host>[\w.-]{1,253}): |)Container killed by YARN for exceeding (?:physical |virtual )?memory limits\.|beyond (?:physical|virtual|the '[PV][A-Z]{5,7}') memory limits?\. Current usage:)` +
				`(?: (?<used_sz>\d{1,9}(?:\.\d{1,4})? ?[KMGT]?i?B) of (?<limit_sz>\d{1,9}(?:\.\d{1,4})? ?[KMGT]?i?B) physical memory used)?`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: "Spark on YARN; Hadoop's ContainersMonitorImpl",
			Match: []pattern.Sample{
				{Line: "ExecutorLostFailure Reason: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.", Want: parser.Fields{"used": "5905580032", "limit": "5905580032"}},
				{Line: "Container [pid=77,containerID=container_1_2_01_3] is running beyond physical memory limits. Current usage: 2.5 GB of 2 GB physical memory used; 4.0 GB of 4.2 GB virtual memory used. Killing container.", Want: parser.Fields{"used": "2684354560", "limit": "2147483648"}},
				{Line: "Container [pid=77,containerID=container_1_2_01_3] is running 18632704B beyond the 'PHYSICAL' memory limit. Current usage: 2.5 GB of 2 GB physical memory used; 4.0 GB of 4.2 GB virtual memory used. Killing container.", Want: parser.Fields{"used": "2684354560", "limit": "2147483648"}},
				{Line: "Lost executor 9 on node7.example.org: Container killed by YARN for exceeding memory limits. 7.2 GB of 4.2 GB virtual memory used. Consider boosting spark.yarn.executor.memoryOverhead.", Want: parser.Fields{"host": "node7.example.org"}},
			},
		},
	}
}
