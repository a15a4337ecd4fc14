package parser

// hostPatterns are failed allocations of host memory, whoever asked: torch's CPU allocator, numpy, Python, C++, libc,
// the JVM, Node and Go.
var hostPatterns = makers{pythonHostPatterns, nativeHostPatterns, runtimeHostPatterns}

func pythonHostPatterns() []Pattern {
	return []Pattern{
		{
			Name:    "host.torch_cpu",
			Needles: []string{"DefaultCPUAllocator: "},
			Expr:    `DefaultCPUAllocator: (?:can't allocate memory|not enough memory)(?:: you tried to (?:re)?allocate (?<requested_b>\d{1,19})(?! ?GB| ?\d))?`,
			Kind:    HostOOM, Role: Evidence,
			Source: "PyTorch 1.1 and later, c10/core/impl/alloc_cpu.cpp (CPUAllocator.cpp before 1.12); Windows and Android say \"not enough memory\"",
			Match: []Sample{
				{
					"RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 151934468096 bytes. Error code 12 (Cannot allocate memory)",
					Fields{"requested": "151934468096"},
				},
				{"RuntimeError: [enforce fail at CPUAllocator.cpp:65] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 4096 bytes. Error code 12 (Cannot allocate memory)", Fields{"requested": "4096"}},
				{"RuntimeError: [enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to allocate 6553600 bytes.", Fields{"requested": "6553600"}},
				{"DefaultCPUAllocator: not enough memory: you tried to allocate 25165824 bytes. Buy new RAM!", Fields{"requested": "25165824"}},
			},
		},
		{
			Name:    "host.torch_th",
			Needles: []string{"$ Torch: not enough memory"},
			Expr:    `\$ Torch: not enough memory: you tried to (?:re)?allocate (?:0|(?<requested_gib>[1-9]\d{0,7}))GB`,
			Kind:    HostOOM, Role: Evidence,
			Source: "PyTorch to 1.0, TH/THGeneral.cpp: whole GiB, rounded down, so 0GB tells nothing",
			Match: []Sample{
				{"RuntimeError: $ Torch: not enough memory: you tried to allocate 12GB. Buy new RAM! at /pytorch/aten/src/TH/THGeneral.cpp:201", Fields{"requested": "12884901888"}},
				{"RuntimeError: $ Torch: not enough memory: you tried to reallocate 0GB. Buy new RAM! at ../aten/src/TH/THGeneral.cpp:271", Fields{}},
			},
		},
		{
			Name:    "host.npu_pinned",
			Needles: []string{"Malloc pin memory failed"},
			Expr:    `Malloc pin memory failed, host out of memory(?:, [RT]ried to allocate size: (?<requested_b>\d{1,19}))?(?:, total_allocated_memory: (?<allocated_b>\d{1,19}))?(?:, total_reserved_memory: (?<reserved_b>\d{1,19}))?`,
			Kind:    HostOOM, Role: Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/CachingHostAllocator.cpp (\"Rried\" is the program's own spelling)",
			Match: []Sample{{
				"RuntimeError: Malloc pin memory failed, host out of memory, Rried to allocate size: 8589934592, total_allocated_memory: 17179869184, total_reserved_memory: 21474836480",
				Fields{"requested": "8589934592", "allocated": "17179869184", "reserved": "21474836480"},
			}},
		},
		{
			Name:    "host.numpy",
			Needles: []string{"Unable to allocate ", "unable to allocate "},
			Expr:    `[Uu]nable to allocate (?:(?<requested_sz>` + torchSize + `) for an )?array with shape \(`,
			Kind:    HostOOM, Role: Evidence,
			Source: "numpy, numpy/_core/_exceptions.py (_ArrayMemoryError since 1.17; 1.16 printed no size); three digits, a trailing dot included",
			Match: []Sample{
				{"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 745. MiB for an array with shape (195264, 1000) and data type float32", Fields{"requested": "781189120"}},
				{"numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.50 GiB for an array with shape (1006632960,) and data type float64", Fields{"requested": "8053063680"}},
				{"MemoryError: Unable to allocate array with shape (5000000, 4096) and data type float32", Fields{}},
			},
			NoMatch: []string{
				"srun: error: Unable to allocate resources: Requested node configuration is not available",
				"error loading model: unable to allocate CUDA0 buffer",
			},
		},
		{
			Name:    "host.memory_error",
			Needles: []string{"MemoryError"},
			Expr: `^\s{0,8}MemoryError:?\s*(?:$|Traceback \(most recent call last\):\s*$)` + // the newline is a write of its own
				`|(?<![A-Za-z_])MemoryError: (?!\s*$|[Uu]nable to allocate (?:` + torchSize + ` for an )?array|.{0,40}std::bad_alloc|.{0,80}(?:CUDA|cuda|GPU|[dD]evice)|#)\S`,
			Kind: HostOOM, Role: Evidence,
			Source: "CPython: the class alone, or with whatever the raiser says",
			Match: []Sample{
				{"MemoryError", Fields{}},
				{"MemoryErrorTraceback (most recent call last):", Fields{}},
				{"MemoryError: Unable to allocate internal buffer.", Fields{}},
				{"lmdb.MemoryError: /data/train.lmdb: Cannot allocate memory", Fields{}},
			},
			NoMatch: []string{
				"ray.exceptions.RayTaskError(MemoryError): ray::reader() (pid=1, ip=10.0.0.1)",
				"    except MemoryError:",
				"pyarrow.lib.ArrowMemoryError: malloc of size 64 failed",
				"ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
				"MemoryError: std::bad_alloc: cudaErrorMemoryAllocation: out of memory",
			},
		},
		{
			Name:    "host.pandas_tokenizer",
			Needles: []string{"C error: out of memory"},
			Expr:    `\bC error: out of memory`,
			Kind:    HostOOM, Role: Evidence, Phase: "data",
			Source:  "pandas, _libs/src/parser/tokenizer.c: read_csv could not grow its buffers; it prints no sizes",
			Match:   []Sample{{"pandas.errors.ParserError: Error tokenizing data. C error: out of memory", Fields{}}},
			NoMatch: []string{"pandas.errors.ParserError: Error tokenizing data. C error: Expected 5 fields in line 3, saw 6"},
		},
		{
			Name:    "host.arrow",
			Needles: []string{"alloc of size ", "Memory mapping file failed", "ArrowMemoryError"},
			Expr:    `\b(?:malloc|realloc|calloc) of size (?<requested_b>\d{1,19}) failed|Memory mapping file failed: Cannot allocate memory|^\s{0,8}pyarrow\.lib\.ArrowMemoryError:?\s*$`,
			Kind:    HostOOM, Role: Evidence,
			Source: "pyarrow, cpp/src/arrow/memory_pool.cc; the second is arrow's mmap, which a map count or address limit stops too; to 0.10 the class alone",
			Match: []Sample{
				{"pyarrow.lib.ArrowMemoryError: realloc of size 8589934592 failed", Fields{"requested": "8589934592"}},
				{"OSError: Memory mapping file failed: Cannot allocate memory", Fields{}},
				{"pyarrow.lib.ArrowMemoryError", Fields{}},
			},
		},
	}
}

func nativeHostPatterns() []Pattern {
	return []Pattern{
		{
			Name:    "host.bad_alloc",
			Needles: []string{"std::bad_alloc"},
			Expr:    `(?:instance of '|what\(\): {1,2}|[Ee]rror: |[Ee]xception: |[Ee]rror\(')std::bad_alloc(?!: ?\S|[\w&])`,
			Kind:    HostOOM, Role: Evidence,
			Source: "C++ runtime and pybind11",
			Match: []Sample{
				{"terminate called after throwing an instance of 'std::bad_alloc'", Fields{}},
				{"  what():  std::bad_alloc", Fields{}},
				{"RuntimeError: std::bad_alloc", Fields{}},
				{"MemoryError: std::bad_alloc", Fields{}},
			},
			NoMatch: []string{
				"MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /opt/x.hpp:69: cudaErrorMemoryAllocation out of memory",
				"terminate called after throwing an instance of 'std::bad_array_new_length'",
				"} catch (std::bad_alloc& e) {",
			},
		},
		{
			Name:    "host.enomem",
			Needles: []string{"annot allocate memory"},
			Expr: `(?:\[Errno (?<errno>12)\] |Os \{ code: (?<errno>12), kind: \w{1,40}, message: "|\b(?:v?fork|clone|mmap|mremap|posix_spawn|posix_memalign|popen|malloc|calloc|realloc|brk|execve?|pthread_create|retry|exec|spawn|mdb_env_open)(?:\(\))?[^:;]{0,60}: (?:[Ff]ailed: |error: )?)[Cc]annot allocate memory(?! in static TLS)` +
				`(?<!NCCL (?:WARN|INFO) .{0,300}|ibv_.{0,200}|unable to mmap.{0,200})` +
				`|Cannot allocate memory \(os error (?<errno>12)\)|error while loading shared libraries: [^:]{1,200}: (?:failed to map segment from shared object: )?[Cc]annot allocate memory|virtual memory exhausted`,
			Kind: HostOOM, Role: Evidence,
			Source: "libc's ENOMEM through CPython's OSError, Rust's std::io::Error, shells, the dynamic loader and compilers",
			Match: []Sample{
				{"OSError: [Errno 12] Cannot allocate memory", Fields{"errno": "12"}},
				{"-bash: fork: Cannot allocate memory", Fields{}},
				{`on an Err value: Os { code: 12, kind: OutOfMemory, message: "Cannot allocate memory" }`, Fields{"errno": "12"}},
				{"OSError: Cannot allocate memory (os error 12)", Fields{"errno": "12"}},
				{"/bin/sh: fork: retry: Cannot allocate memory", Fields{}},
				{"python3: error while loading shared libraries: libtorch_cuda.so: failed to map segment from shared object: Cannot allocate memory", Fields{}},
				{"cc1plus: virtual memory exhausted: Cannot allocate memory", Fields{}},
			},
			NoMatch: []string{
				"ImportError: /usr/lib/libgomp.so.1: cannot allocate memory in static TLS block",
				"node-a:1:2 [0] misc/ibvwrap.cc:201 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
				"bash: fork: retry: Resource temporarily unavailable",
				"RuntimeError: unable to mmap 4096 bytes from file </torch_1_2_3>: Cannot allocate memory (12)",
			},
		},
		{
			// The commit limit, memory and paging file together. The number is what stays the same in every language.
			Name:    "host.windows_commit",
			Needles: []string{"[WinError 1455]", "(os error 1455)", "paging file is too small"},
			Expr:    `\[WinError (?<errno>1455)\]|\(os error (?<errno>1455)\)|[Tt]he paging file is too small for this operation to complete`,
			Kind:    HostOOM, Role: Evidence,
			Source: "Windows ERROR_COMMITMENT_LIMIT, through CPython's OSError and ImportError, Rust's std::io::Error (safetensors)",
			Match: []Sample{
				{`OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "C:\env\lib\site-packages\torch\lib\cufft64_10.dll" or one of its dependencies.`, Fields{"errno": "1455"}},
				{"OSError: Die Auslagerungsdatei ist zu klein. (os error 1455)", Fields{"errno": "1455"}},
				{"ImportError: DLL load failed: The paging file is too small for this operation to complete.", Fields{}},
			},
			NoMatch: []string{"OSError: [WinError 126] The specified module could not be found."},
		},
		{
			Name:    "host.rust",
			Needles: []string{" bytes failed"},
			Expr:    `memory allocation of (?<requested_b>\d{1,19}) bytes failed`,
			Kind:    HostOOM, Role: Evidence,
			Source: "Rust's alloc error handler (tokenizers, safetensors, polars), before it aborts",
			Match:  []Sample{{"memory allocation of 17179869184 bytes failed", Fields{"requested": "17179869184"}}},
		},
		{
			Name:    "host.tools",
			Needles: []string{"memory exhausted", "alloc: cannot allocate ", "ut of memory!", "ut of memory allocating ", ">: Error in malloc"},
			Expr: `^(?:\S{1,80}: )?(?:memory exhausted(?: by input buffer of size (?<requested_b>\d{1,19}))?|Out of memory!(?:\s*$| Callback| Yes))` +
				`|\bx(?:m|re)alloc: cannot allocate (?<requested_b>\d{1,19}) bytes|out of memory allocating (?<requested_b>\d{1,19}) bytes after a total of|<jemalloc>: Error in malloc\(\): out of memory`,
			Kind: HostOOM, Role: Evidence,
			Source: "grep, sort, dd, perl, bash, gcc, jemalloc",
			Match: []Sample{
				{"dd: memory exhausted by input buffer of size 68719476736 bytes (64 GiB)", Fields{"requested": "68719476736"}},
				{"grep: memory exhausted", Fields{}},
				{"Out of memory!", Fields{}},
				{"/var/spool/slurmd/job00042/slurm_script: xrealloc: cannot allocate 15921152 bytes", Fields{"requested": "15921152"}},
				{"cc1plus: out of memory allocating 65536 bytes after a total of 4096000 bytes", Fields{"requested": "65536"}},
			},
			NoMatch: []string{"CUDA out of memory! reduce the batch size"},
		},
		{
			Name:    "host.opencv",
			Needles: []string{"OutOfMemoryError"},
			Expr:    `Failed to allocate (?<requested_b>\d{1,19}) bytes(?:\)| in function).{0,60}OutOfMemoryError`,
			Kind:    HostOOM, Role: Evidence, Phase: "data", Set: map[string]string{"library": "opencv"},
			Source: "OpenCV 2-4, modules/core/src/alloc.cpp; a size beyond all bounds is an overflow",
			Match: []Sample{
				{"cv2.error: OpenCV(4.5.2) /io/opencv/modules/core/src/alloc.cpp:73: error: (-4:Insufficient memory) Failed to allocate 921600 bytes in function 'cv::OutOfMemoryError'", Fields{"requested": "921600", "library": "opencv"}},
				{"OpenCV Error: Insufficient memory (Failed to allocate 2359296 bytes) in cv::OutOfMemoryError, file alloc.cpp, line 55", Fields{"requested": "2359296", "library": "opencv"}},
			},
		},
		{
			Name:    "host.compiler_killed",
			Needles: []string{"Killed signal terminated program", "(program cc1plus)"},
			Expr:    `fatal error: Killed signal terminated program (?<comm>[\w.+-]{1,40})|internal compiler error: Killed \(program (?<comm>[\w.+-]{1,40})\)`,
			Kind:    OOMKill, Role: Suspicion,
			Source: "gcc's driver: its compiler got SIGKILL (extensions built with too many jobs)",
			Match: []Sample{
				{"c++: fatal error: Killed signal terminated program cc1plus", Fields{"comm": "cc1plus"}},
				{"c++: internal compiler error: Killed (program cc1plus)", Fields{"comm": "cc1plus"}},
			},
		},
	}
}

func runtimeHostPatterns() []Pattern {
	return []Pattern{
		{
			Name:    "host.go",
			Needles: []string{"fatal error: runtime: ", "fatal error: out of memory"},
			Expr:    `fatal error: (?:runtime: (?:out of memory|cannot allocate memory)|out of memory)`,
			Kind:    HostOOM, Role: Evidence,
			Source: "Go's runtime (wandb-core, container tools)",
			Match:  []Sample{{"fatal error: runtime: out of memory", Fields{}}, {"fatal error: runtime: cannot allocate memory", Fields{}}},
		},
		{
			Name:    "host.jvm",
			Needles: []string{"java.lang.OutOfMemoryError: "},
			Expr:    `java\.lang\.OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded|Direct buffer memory|Metaspace|Requested array size exceeds VM limit|Cannot reserve (?<requested_b>\d{1,19}) bytes of direct buffer)`,
			Kind:    HostOOM, Role: Suspicion,
			Set:    map[string]string{"library": "jvm"},
			Source: "the JVM's own heap limit (Spark, HDFS client): another program than the job, and no sign that the node ran out",
			Match: []Sample{
				{"java.lang.OutOfMemoryError: Java heap space", Fields{"library": "jvm"}},
				{`Exception in thread "main" java.lang.OutOfMemoryError: GC overhead limit exceeded`, Fields{"library": "jvm"}},
			},
			NoMatch: []string{"java.lang.OutOfMemoryError: unable to create new native thread"},
		},
		{
			Name:    "host.jvm_native",
			Needles: []string{"insufficient memory for the Java Runtime", "Native memory allocation ("},
			Expr:    `insufficient memory for the Java Runtime Environment|Native memory allocation \(\w{1,20}\) failed to (?:map|allocate) (?<requested_b>\d{1,19}) bytes`,
			Kind:    HostOOM, Role: Evidence,
			Set:    map[string]string{"library": "jvm"},
			Source: "HotSpot, hs_err header: the system refused",
			Match: []Sample{
				{"# There is insufficient memory for the Java Runtime Environment to continue.", Fields{"library": "jvm"}},
				{"# Native memory allocation (mmap) failed to map 716177408 bytes for committing reserved memory.", Fields{"library": "jvm", "requested": "716177408"}},
			},
		},
		{
			Name:    "host.node",
			Needles: []string{"JavaScript heap out of memory"},
			Expr:    `(?:Reached heap limit|invalid array length|CALL_AND_RETRY_LAST|Ineffective mark-compacts near heap limit)? ?Allocation failed - JavaScript heap out of memory`,
			Kind:    Pressure, Role: Context,
			Set:    map[string]string{"library": "node"},
			Source: "V8's own heap limit, in a user interface beside the job (wandb, tensorboard)",
			Match:  []Sample{{"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", Fields{"library": "node"}}},
		},
		{
			Name:    "host.yarn",
			Needles: []string{"killed by YARN for exceeding", "beyond physical memory limits"},
			Expr: `(?:Container killed by YARN for exceeding (?:physical )?memory limits\.|beyond physical memory limits\. Current usage:)` +
				`(?: (?<used_sz>\d{1,9}(?:\.\d{1,4})? ?[KMGT]?i?B) of (?<limit_sz>\d{1,9}(?:\.\d{1,4})? ?[KMGT]?i?B) physical memory used)?`,
			Kind: OOMKill, Role: Evidence,
			Source: "Spark on YARN; Hadoop's ContainersMonitorImpl",
			Match: []Sample{
				{"ExecutorLostFailure Reason: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.", Fields{"used": "5905580032", "limit": "5905580032"}},
				{"Container [pid=77,containerID=container_1_2_01_3] is running beyond physical memory limits. Current usage: 2.5 GB of 2 GB physical memory used; 4.0 GB of 4.2 GB virtual memory used. Killing container.", Fields{"used": "2684354560", "limit": "2147483648"}},
			},
		},
	}
}
