package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// ncclPatterns are the collective libraries and torch's wrapper around them: NCCL, RCCL, HCCL, Gloo.
//
// NCCL tells an allocation failure twice: a line with the CUDA error, then one with the size. The second alone proves
// nothing, because a call that failed for any other reason prints it as well. Everything that torch says around it is
// the consequence of a failure that may be on another rank.
var ncclPatterns = slices.Concat(
	by(pattern.Program{Name: "nccl", Framework: "torch", Vendor: "cuda"}, ncclMemoryPatterns, ncclErrorPatterns),
	by(pattern.Program{Name: "c10d", Framework: "torch"}, c10dPatterns),
	by(pattern.Program{Name: "hccl", Vendor: "npu"}, hcclPatterns),
	by(pattern.Program{Name: "c10d", Framework: "torch"}, watchdogPatterns),
)

// ncclMemoryPatterns are allocations that the library could not make, on the GPU, in host memory or in /dev/shm.
func ncclMemoryPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "nccl.cuda_oom",
			Literals: []string{"Cuda failure", "HIP failure"},
			Expr:     `(?:Cuda|HIP) failure (?:\d+ )?'out of memory'`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl",
			Source: "NCCL 2.3-2.30 src/include/checks.h (runtime calls, no number), src/misc/cudawrap.cc since 2.19 (driver calls, CUresult 2); RCCL prints the same, newer builds HIP",
			Match: lines(
				`NCCL WARN Cuda failure 'out of memory'`,
				`NCCL WARN Cuda failure 2 'out of memory'`,
				`Cuda failure 2 'out of memory'`,
				`allocator.cc:76 NCCL WARN HIP failure 'out of memory'`,
			),
			NoMatch: []string{
				`NCCL WARN Cuda failure 700 'an illegal memory access was encountered'`,
			},
		},
		{
			Name:     "nccl.alloc",
			Literals: []string{"NCCL WARN Failed to CUDA "},
			Expr:     `NCCL WARN Failed to CUDA (?:malloc|calloc async|calloc) (?<requested_b>\d+) bytes`,
			Kind:     parser.NCCLOOM, Role: parser.Detail, Phase: "nccl",
			Source: "NCCL since 2.14.3 src/include/alloc.h; RCCL the same",
			Match: []pattern.Sample{
				{Line: `NCCL WARN Failed to CUDA calloc async 608 bytes`, Want: parser.Fields{"requested": "608"}},
				{Line: `NCCL WARN Failed to CUDA calloc 4194304 bytes`, Want: parser.Fields{"requested": "4194304"}},
				{Line: `NCCL WARN Failed to CUDA malloc 10485760 bytes`, Want: parser.Fields{"requested": "10485760"}},
			},
			NoMatch: []string{`NCCL WARN Failed to CUDA host alloc 8388608 bytes`},
		},
		{
			// Behind "Last error:" the words stand on a line of their own, without the WARN.
			Name:     "nccl.last_error_alloc",
			Literals: []string{"Failed to CUDA "},
			Expr:     `Failed to CUDA (?<!NCCL WARN Failed to CUDA )(?:malloc|calloc async|calloc) (?<requested_b>\d+) bytes`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl",
			Source: "torch since 1.13 torch/csrc/distributed/c10d/NCCLUtils.cpp (ncclGetLastError); text of NCCL src/include/alloc.h",
			Match: []pattern.Sample{
				{Line: `Failed to CUDA calloc async 608 bytes`, Want: parser.Fields{"requested": "608"}},
				{Line: `Last error: Failed to CUDA malloc 2097152 bytes`, Want: parser.Fields{"requested": "2097152"}},
			},
			NoMatch: []string{`Failed to CUDA graph the model`},
		},
		{
			Name:     "nccl.host_alloc",
			Literals: []string{"NCCL WARN Failed to CUDA host alloc "},
			Expr:     `NCCL WARN Failed to CUDA host alloc (?<requested_b>\d+) bytes`,
			Kind:     parser.NCCLOOM, Role: parser.Detail, Phase: "nccl", Set: map[string]string{"resource": "host"},
			Source: "NCCL since 2.14.3 src/include/alloc.h: pinned host memory",
			Match: []pattern.Sample{
				{Line: `NCCL WARN Failed to CUDA host alloc 33554432 bytes`, Want: parser.Fields{"requested": "33554432"}},
			},
			NoMatch: []string{`NCCL WARN Failed to CUDA calloc 608 bytes`},
		},
		{
			Name:     "nccl.last_error_host_alloc",
			Literals: []string{"Failed to CUDA host alloc "},
			Expr:     `Failed to CUDA (?<!NCCL WARN Failed to CUDA )host alloc (?<requested_b>\d+) bytes`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl", Set: map[string]string{"resource": "host"},
			Source: "torch since 1.13 NCCLUtils.cpp (ncclGetLastError); text of NCCL src/include/alloc.h",
			Match:  []pattern.Sample{{Line: `Failed to CUDA host alloc 33554432 bytes`, Want: parser.Fields{"requested": "33554432"}}},
		},
		{
			// malloc(3) returned NULL: that is proof by itself.
			Name:     "nccl.malloc",
			Literals: []string{"NCCL WARN Failed to malloc "},
			Expr:     `NCCL WARN Failed to malloc (?<requested_b>\d+) bytes`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl", Set: map[string]string{"resource": "host"},
			Source: "NCCL since 2.4 src/include/alloc.h",
			Match:  []pattern.Sample{{Line: `NCCL WARN Failed to malloc 1048576 bytes`, Want: parser.Fields{"requested": "1048576"}}},
		},
		{
			// Not certainly NCCL's words: any C program may say so, and a failed malloc it is in each case.
			Name:     "nccl.last_error_malloc",
			Literals: []string{"Failed to malloc "},
			Expr:     `(?:^\s*|Last error: )Failed to malloc (?<requested_b>\d+) bytes\s*$`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source:  "torch since 1.13 NCCLUtils.cpp (ncclGetLastError); text of NCCL src/include/alloc.h",
			Match:   []pattern.Sample{{Line: `Failed to malloc 1048576 bytes`, Want: parser.Fields{"requested": "1048576"}}},
			NoMatch: []string{`Failed to malloc scratch`},
		},
		{
			// The segment was there, and mapping it into the device failed: the line before says of what.
			Name:  "nccl.shm_register",
			After: []string{"nccl.cuda_failure"}, Within: 3,
			Expr: `Error while creating shared memory segment \S{1,256} \(size \d+\)(?!, error:)`,
			Kind: parser.NCCLFailure, Role: parser.Consequence, Source: "NCCL 2.12-2.21 src/misc/shmutils.cc ncclShmOpen (cudaHostRegister)",
			Match: lines(`NCCL WARN Error while creating shared memory segment /dev/shm/nccl-kT3v8a (size 9637888)`),
			Also:  []string{"nccl.shm_segment"},
		},
		{
			Name:     "nccl.shm_segment",
			Literals: []string{"Error while creating shared memory segment "},
			Expr:     `Error while creating shared memory segment (?<path>\S{1,256}) \(size (?<requested_b>\d+)\)(?:(?!, error:)|, error: (?:No space left on device|Cannot allocate memory)(?: \((?<errno>\d+)\))?)`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl", Set: map[string]string{"resource": "shm"},
			Source: "NCCL 2.3-2.30 src/include/shm.h, src/misc/shmutils.cc, src/os/linux.cc; the error since 2.22",
			Match: []pattern.Sample{
				{
					Line: `NCCL WARN Error while creating shared memory segment nccl-shm-recv-9a1c77-1-2-3 (size 9637888)`,
					Want: parser.Fields{"path": "nccl-shm-recv-9a1c77-1-2-3", "requested": "9637888"},
				},
				{
					Line: `Error while creating shared memory segment /dev/shm/nccl-kT3v8a (size 33030528), error: No space left on device (28)`,
					Want: parser.Fields{"path": "/dev/shm/nccl-kT3v8a", "requested": "33030528", "errno": "28"},
				},
			},
			NoMatch: []string{
				`Error while creating shared memory segment /dev/shm/nccl-kT3v8a (size 33030528), error: Too many open files (24)`,
			},
		},
		{
			Name:     "nccl.shm_extend",
			Literals: []string{"failed to extend /dev/shm/"},
			Expr:     `failed to extend (?<path>/dev/shm/\S{1,200}) to (?<requested_b>\d+) bytes(?:(?!, error:)|, error: (?:No space left on device|Cannot allocate memory)(?: \((?<errno>\d+)\))?)`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl", Set: map[string]string{"resource": "shm"},
			Source: "NCCL since 2.12 src/misc/shmutils.cc, 2.30 src/os/linux.cc; the error since 2.22",
			Match: []pattern.Sample{
				{
					Line: `NCCL WARN Error: failed to extend /dev/shm/nccl-4hG2xQ to 33030532 bytes, error: No space left on device (28)`,
					Want: parser.Fields{"path": "/dev/shm/nccl-4hG2xQ", "requested": "33030532", "errno": "28"},
				},
				{Line: `Error: failed to extend /dev/shm/nccl-4hG2xQ to 9637892 bytes`, Want: parser.Fields{"path": "/dev/shm/nccl-4hG2xQ", "requested": "9637892"}},
			},
			NoMatch: []string{`failed to extend /dev/shm/nccl-4hG2xQ to 9637892 bytes, error: Permission denied (13)`},
		},
		{
			Name:     "nccl.posix_fallocate",
			Literals: []string{"posix_fallocate failed"},
			Expr:     `posix_fallocate failed ?: No space left on device`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl", Set: map[string]string{"resource": "shm"},
			Source:  "NCCL 2.3-2.11 src/include/shm.h (SYSCHECK)",
			Match:   lines(`NCCL WARN Call to posix_fallocate failed : No space left on device`),
			NoMatch: []string{`NCCL WARN Call to posix_fallocate failed : Operation not supported`},
		},
		{
			Name:     "nccl.shm_map",
			Literals: []string{"Could not map ", "failed to create shared memory file "},
			Expr:     `(?:Could not map (?<path>\S{1,256}) size (?<requested_b>\d+)|failed to create shared memory file (?<path>[^\s,]{1,256})), error: (?:No space left on device|Cannot allocate memory)(?: \((?<errno>\d+)\))?`,
			Kind:     parser.NCCLOOM, Role: parser.Evidence, Phase: "nccl", Set: map[string]string{"resource": "shm"},
			Source: "NCCL since 2.22 src/misc/shmutils.cc",
			Match: []pattern.Sample{
				{
					Line: `NCCL WARN Error: Could not map /dev/shm/nccl-Pq81Rd size 33030532, error: Cannot allocate memory (12)`,
					Want: parser.Fields{"path": "/dev/shm/nccl-Pq81Rd", "requested": "33030532", "errno": "12"},
				},
				{
					Line: `NCCL WARN Error: failed to create shared memory file /dev/shm/nccl-XXXXXX, error: No space left on device (28)`,
					Want: parser.Fields{"path": "/dev/shm/nccl-XXXXXX", "errno": "28"},
				},
			},
			NoMatch: []string{`Error: failed to create shared memory file /dev/shm/nccl-XXXXXX, error: Too many open files (24)`},
		},
		{
			Name:     "nccl.shm_peer",
			Literals: []string{"Error while attaching to shared memory segment ", "Error while creating shared memory segment "},
			Expr:     `Error while (?:attaching to shared memory segment|creating shared memory segment \S{1,256} \(size \d+\), error: (?!No space left on device|Cannot allocate memory))`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "NCCL since 2.12 src/misc/shmutils.cc: a peer finds no segment; or an errno that is no exhaustion",
			Match: lines(
				`NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-kT3v8a (size 33030528)`,
				`NCCL WARN Error while creating shared memory segment /dev/shm/nccl-kT3v8a (size 9637888), error: Too many open files (24)`,
			),
			NoMatch: []string{`Error while creating shared memory segment /dev/shm/nccl-kT3v8a (size 33030528)`},
		},
	}
}

// ncclErrorPatterns are the other failures of the libraries and how torch words them.
func ncclErrorPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "nccl.cuda_failure",
			Literals: []string{"Cuda failure", "HIP failure"},
			Expr:     `(?:Cuda|HIP) failure (?:\d+ )?'(?!out of memory|an illegal memory access)(?<reason>[^']{1,120})'`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "NCCL 2.3-2.30 src/include/checks.h",
			Match: []pattern.Sample{
				{Line: `NCCL WARN Cuda failure 'invalid argument'`, Want: parser.Fields{"reason": "invalid argument"}},
				{Line: `NCCL WARN Cuda failure 719 'unspecified launch failure'`, Want: parser.Fields{"reason": "unspecified launch failure"}},
			},
			NoMatch: []string{`NCCL WARN Cuda failure 700 'an illegal memory access was encountered'`},
		},
		{
			// "Cannot allocate memory" here is a limit on locked memory or queue pairs, not RAM.
			Name:     "nccl.ibv",
			Literals: []string{"Call to ibv_"},
			Expr:     `Call to (?<method>ibv_\w{1,40}) failed(?: with error (?<reason>[^,(]{0,119}[^,(\s]))?`,
			Kind:     parser.NCCLFailure, Role: parser.Context,
			Source: "NCCL src/misc/ibvwrap.cc",
			Match: []pattern.Sample{
				{Line: `NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory`, Want: parser.Fields{"method": "ibv_reg_mr", "reason": "Cannot allocate memory"}},
				{Line: `Call to ibv_create_qp failed`, Want: parser.Fields{"method": "ibv_create_qp"}},
			},
			NoMatch: []string{`NCCL WARN Failed to open libibverbs.so[.1]`},
		},
		{
			Name: "nccl.network",
			Literals: []string{
				"socketProgress", "Got completion ", "socketPollConnect", "socketStartConnect",
				"Call to recv", "Call to send", "Call to connect",
			},
			Expr: `(?:socketProgress(?:Opt)?: Connection closed by remote peer|NET/IB ?: ?Got completion (?:from|with)|socket(?:Poll|Start)Connect:? |Call to (?:recv|send|connect)\b.{0,100}?(?:failed|returned))`,
			Kind: parser.NCCLFailure, Role: parser.Consequence,
			Source: "NCCL src/misc/socket.cc, src/transport/net_ib.cc",
			Match: lines(
				`socketProgress: Connection closed by remote peer gpu-07<41234>`,
				`NCCL WARN NET/IB : Got completion from peer 10.1.0.7<40123> with status=12 opcode=0 len=0 vendor err 129`,
				`NCCL WARN Call to recv from 10.1.0.7<40123> failed : Connection reset by peer`,
				`NCCL WARN socketStartConnect: Connect to 10.1.0.7<40123> failed : Software caused connection abort`,
			),
			NoMatch: []string{`NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.1.0.7<0>`},
		},
	}
}

// c10dPatterns are torch.distributed's own errors.
func c10dPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			// When the watchdog died of memory itself, the allocator's pattern has the line.
			Name:     "c10d.watchdog_terminated",
			Literals: []string{"watchdog thread terminated with exception"},
			Expr:     `(?:\bRank (?<rank>\d+)\] {1,2})?(?:[NHX]CCL |Process group )watchdog thread terminated with exception: (?!.{0,200}(?:out of memory|illegal memory access))`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch ProcessGroupNCCL.cpp: up to 2.2 'NCCL watchdog', since 2.3 'Process group watchdog'",
			Match: []pattern.Sample{
				{Line: `[PG ID 2 PG GUID 20 Rank 11] Process group watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5`, Want: parser.Fields{"rank": "11"}},
				{Line: `  what():  [Rank 10] NCCL watchdog thread terminated with exception: [Rank 10] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=118, OpType=_ALLGATHER_BASE, NumelIn=19825408, NumelOut=317206528, Timeout(ms)=600000) ran for 600623 milliseconds before timing out.`, Want: parser.Fields{"rank": "10"}},
				{Line: `NCCL watchdog thread terminated with exception: CUDA error: uncorrectable ECC error encountered`},
			},
			NoMatch: []string{
				`[Rank 3] NCCL watchdog thread terminated with exception: CUDA error: out of memory`,
				`[PG 0 Rank 3] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered`,
			},
			Also: []string{"c10d.watchdog_timeout", "c10d.nccl_error"},
		},
		{
			Name:     "c10d.nccl_error",
			Literals: []string{"CCL error in: ", "CCL timeout in: ", "NCCL Error ", "NCCL error: ", "CCL function error"},
			Expr:     `(?:[NRHX]CCL (?:error|timeout) in: [^\s,]{1,300}:\d+, |NCCL Error \d{1,3}: |NCCL error: |HCCL function error ?: ?)(?<reason>[^,(]{0,119}[^,(\s])(?:.{0,300}?, [NR]CCL version (?<version>\d[\w.]{0,15}))?`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch 1.5-2.11 torch/csrc/distributed/c10d/NCCLUtils.cpp, ProcessGroupNCCL.cpp; up to 2.1 a RuntimeError; torch_npu third_party/hccl",
			Match: []pattern.Sample{
				{
					Line: `torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5`,
					Want: parser.Fields{"reason": "unhandled cuda error", "version": "2.20.5"},
				},
				{
					Line: `RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:825, unhandled system error, NCCL version 2.9.6`,
					Want: parser.Fields{"reason": "unhandled system error", "version": "2.9.6"},
				},
				{Line: `RuntimeError: NCCL Error 2: unhandled system error`, Want: parser.Fields{"reason": "unhandled system error"}},
				{
					Line: `NCCL error: remote process exited or there was a network error, NCCL version 2.21.5`,
					Want: parser.Fields{"reason": "remote process exited or there was a network error", "version": "2.21.5"},
				},
				{Line: `RuntimeError: create_config:compiler_depend.ts:102 HCCL function error: hcclCommInitRootInfoConfig(numRanks, &rootInfo, rank), error code is 15`, Want: parser.Fields{"reason": "hcclCommInitRootInfoConfig"}},
			},
			NoMatch: []string{`NCCL_DEBUG=INFO`, `ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. `},
		},
		{
			Name: "c10d.nccl_class",
			Literals: []string{
				"ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclRemoteError", "ncclInvalidUsage", "ncclInvalidArgument",
			},
			Expr: `(?<reason>nccl(?:UnhandledCudaError|SystemError|InternalError|RemoteError|InvalidUsage|InvalidArgument)): `,
			Kind: parser.NCCLFailure, Role: parser.Detail,
			Source: "torch since 1.7 torch/csrc/distributed/c10d/NCCLUtils.hpp: the second line of an NCCL error",
			Match: []pattern.Sample{
				{Line: `ncclUnhandledCudaError: Call to CUDA function failed.`, Want: parser.Fields{"reason": "ncclUnhandledCudaError"}},
				{
					Line: `ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.`,
					Want: parser.Fields{"reason": "ncclRemoteError"},
				},
			},
			NoMatch: []string{`if result == ncclSystemError {`},
		},
		{
			Name:     "c10d.terminate",
			Literals: []string{"terminate called after throwing an instance of 'c10::DistBackendError'", "terminate called after throwing an instance of 'gloo::"},
			Expr:     `terminate called after throwing an instance of '(?<reason>c10::DistBackendError|gloo::\w{1,40})'`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "libstdc++; thrown by torch since 2.2 ProcessGroupNCCL.cpp watchdog",
			Match:  []pattern.Sample{{Line: `terminate called after throwing an instance of 'c10::DistBackendError'`, Want: parser.Fields{"reason": "c10::DistBackendError"}}},
		},
		{
			Name:     "c10d.gloo",
			Literals: []string{"gloo/transport/tcp/", "monitoredBarrier"},
			Expr:     `(?:gloo/transport/tcp/\w{1,32}\.(?:cc|h):\d+\] |\bRank (?<rank>\d+)\]?:? (?:successfully reached monitoredBarrier, but received errors|Rank \d+ failed to pass monitoredBarrier)|Ranks? \d[\d, ]{0,200} failed to pass monitoredBarrier)`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "gloo gloo/transport/tcp/pair.cc; torch ProcessGroupGloo.cpp",
			Match: []pattern.Sample{
				{Line: `RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.1.0.7]:40123`},
				{Line: `RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:84] Timed out waiting 1800000ms for recv operation to complete`},
				{Line: `Rank 0 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 3.`, Want: parser.Fields{"rank": "0"}},
				{Line: `[Rank 0]: Rank 3 failed to pass monitoredBarrier in 1800000 ms`, Want: parser.Fields{"rank": "0"}},
			},
			NoMatch: []string{`[Gloo] Rank 3 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7`},
		},
		{
			Name: "c10d.store",
			Literals: []string{
				"failed on SocketImpl(", "ailed to recv, got 0 bytes", "Connection was likely closed. Did the remote server",
				"DistNetworkError: ", "DistStoreError: ", "The client socket has timed out after ",
			},
			Expr: `(?:(?:recv|send)\w{1,30} failed on SocketImpl\(|[Ff]ailed to recv, got 0 bytes|Connection was likely closed\. Did the remote server|\bDist(?:Network|Store)Error: |The client socket has timed out after )`,
			Kind: parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch since 2.0 torch/csrc/distributed/c10d/TCPStore.cpp, Utils.hpp, socket.cpp",
			Match: lines(
				`[c10d] recvValue failed on SocketImpl(fd=64, addr=[localhost]:35986, remote=[localhost]:45489): Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?`,
				`torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 7/8 clients joined.`,
				`torch.distributed.DistNetworkError: failed to recv, got 0 bytes`,
			),
			NoMatch: []string{`[c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign requested address).`},
		},
	}
}

// hcclPatterns are those of Huawei's collective library.
func hcclPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "hccl.code",
			Literals: []string{"EI0002: ", "EI0006: "},
			Expr:     `\bEI000[26]: `,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source:  "CANN HCCL error codes: EI0002 a notify wait timed out, EI0006 getting a socket timed out",
			Match:   lines(`EI0006: Getting socket times out. Reason: Remote Rank did not send the data in time.`),
			NoMatch: []string{`EL0004: Failed to allocate memory.`},
		},
	}
}

// watchdogPatterns are what ProcessGroupNCCL and its ports print when a collective does not end: 10 to 30 minutes after
// the failure that they follow.
func watchdogPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "c10d.watchdog_timeout",
			Literals: []string{"Watchdog caught collective operation timeout"},
			Expr:     `(?:\bRank (?<rank>\d+)\] {1,2})?Watchdog caught collective operation timeout: Work\w{1,8}\((?:SeqNum=\d+, )?(?:OpType=(?<method>\w{1,40}))?`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch 1.7-2.11 ProcessGroupNCCL.cpp; torch_npu ProcessGroupHCCL.cpp; XPU ProcessGroupXCCL.cpp",
			Match: []pattern.Sample{
				{Line: `[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, TensorShape=[1024, 8], Timeout(ms)=1800000) ran for 1806999 milliseconds before timing out.`, Want: parser.Fields{"rank": "3", "method": "ALLREDUCE"}},
				{Line: `[Rank 14] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=11873, OpType=_ALLGATHER_BASE, NumelIn=1, NumelOut=16, Timeout(ms)=600000) ran for 600885 milliseconds before timing out.`, Want: parser.Fields{"rank": "14", "method": "_ALLGATHER_BASE"}},
				{Line: `[Rank 0] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=7, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=1836000) ran for 1836112 milliseconds before timing out.`, Want: parser.Fields{"rank": "0", "method": "BROADCAST"}},
			},
			NoMatch: []string{`TORCH_NCCL_ASYNC_ERROR_HANDLING=1`},
		},
		{
			Name:     "c10d.watchdog_detected",
			Literals: []string{"detected by watchdog at work"},
			Expr:     `(?:\bRank (?<rank>\d+)\] {1,2})?(?:Exception \(either an error or timeout\)|failure) detected by watchdog at work`,
			Kind:     parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch since 2.4 ProcessGroupNCCL.cpp; PG ID and GUID since 2.5, 'failure' since 2.6",
			Match: []pattern.Sample{
				{Line: `[PG 0 (default_pg) Rank 2] Exception (either an error or timeout) detected by watchdog at work: 41, last enqueued NCCL work: 41, last completed NCCL work: 40.`, Want: parser.Fields{"rank": "2"}},
				{Line: `[PG ID 1 PG GUID 5(mesh_dp) Rank 9]  failure detected by watchdog at work sequence id: 77 PG status: last enqueued work: 78, last completed work: 76`, Want: parser.Fields{"rank": "9"}},
			},
		},
		{
			Name: "c10d.watchdog_abort",
			Literals: []string{
				"NCCL operations have failed or timed out", "HCCL operations have failed or timed out",
				"we are taking the entire process down", "Timeout at NCCL work: ", "Timeout at HCCL work: ", "NCCL communicator was aborted",
			},
			Expr: `(?:\bRank (?<rank>\d+)\] {1,2})?(?:Some [NH]CCL operations have failed or timed out|To avoid data inconsistency, we are taking the entire process down|Timeout at [NH]CCL work: \d|NCCL communicator was aborted(?!.{0,200}CUDA error: out of memory)(?: on rank (?<rank>\d+))?)`,
			Kind: parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch 1.7-2.11 ProcessGroupNCCL.cpp",
			Match: []pattern.Sample{
				{Line: `Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.`},
				{Line: `[Rank 5] To avoid data inconsistency, we are taking the entire process down.`, Want: parser.Fields{"rank": "5"}},
				{Line: `[PG 0 Rank 1] Timeout at NCCL work: 41, last enqueued NCCL work: 41, last completed NCCL work: 40.`, Want: parser.Fields{"rank": "1"}},
				{Line: `RuntimeError: NCCL communicator was aborted on rank 6.`, Want: parser.Fields{"rank": "6"}},
			},
		},
		{
			Name: "c10d.heartbeat",
			Literals: []string{
				"Heartbeat monitor timed out", "watchdog got stuck for ", "Received a dump signal", "Received a global dump signal",
				"First PG on this rank to signal dumping", `check the "should dump" flag on TCPStore`, "flight recorder dump signal",
				"Terminating the process after attempting to dump debug info",
			},
			Expr: `(?:\bRank (?<rank>\d+)\] {1,2})?(?:Heartbeat monitor timed out!|ProcessGroupNCCL's watchdog got stuck for \d|Received a (?:global )?dump signal|First PG on this rank to signal dumping|Failed to check the "should dump" flag on TCPStore|Observed flight recorder dump signal|Terminating the process after attempting to dump debug info)`,
			Kind: parser.NCCLFailure, Role: parser.Consequence,
			Source: "torch since 2.2 ProcessGroupNCCL.cpp heartbeat monitor",
			Match: []pattern.Sample{
				{Line: `[PG ID 0 PG GUID 0(default_pg) Rank 3] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=2`, Want: parser.Fields{"rank": "3"}},
				{Line: `[PG ID 0 PG GUID 0(default_pg) Rank 3] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.`, Want: parser.Fields{"rank": "3"}},
				{Line: `[PG ID 0 PG GUID 0 Rank 0] Received a dump signal due to a collective timeout from this local rank and we will try our best to dump the debug info.`, Want: parser.Fields{"rank": "0"}},
				{Line: `[PG ID 0 PG GUID 0 Rank 4] Failed to check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: Broken pipe`, Want: parser.Fields{"rank": "4"}},
			},
		},
	}
}
