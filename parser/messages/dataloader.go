package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// dataloaderPatterns are worker processes of a data pipeline that died: torch's DataLoader, HF datasets, process pools.
//
// A worker that died of SIGKILL is what the kernel's OOM killer leaves behind, and what everybody else who sends that
// signal leaves behind as well. A bus error in a worker is different: it comes from a page of /dev/shm that could not
// be backed.
var dataloaderPatterns = append(by(pattern.Program{Name: "dataloader", Framework: "torch"}, loaderPatterns), poolPatterns)

func loaderPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "dataloader.killed",
			Literals: []string{") is killed by signal: "},
			Expr:     `DataLoader worker \(pid (?<pid>\d+)\) is killed by signal: (?:Killed|已杀死|Getötet|強制終了)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Phase: "data", Set: map[string]string{"signal": "SIGKILL"},
			Source: "torch 1.0-2.11 torch/csrc/DataLoader.cpp; the signal's name is strsignal's and follows the locale",
			Match: []pattern.Sample{
				{Line: `RuntimeError: DataLoader worker (pid 24832) is killed by signal: Killed. `, Want: parser.Fields{"pid": "24832"}},
				{Line: `RuntimeError: DataLoader worker (pid 881) is killed by signal: 已杀死. `, Want: parser.Fields{"pid": "881"}},
			},
			NoMatch: []string{
				`RuntimeError: DataLoader worker (pid 3216) is killed by signal: Bus error. `,
				`RuntimeError: DataLoader worker (pid 3216) is killed by signal: Terminated. `,
			},
		},
		{
			Name:     "dataloader.bus_error",
			Literals: []string{") is killed by signal: "},
			Expr:     `DataLoader worker \(pid (?<pid>\d+)\) is killed by signal: (?:Bus error|[^.]{1,40}\. It is possible that dataloader's workers are out of shared memory)`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "data", Set: map[string]string{"signal": "SIGBUS"},
			Source: "torch 1.0-2.11 torch/csrc/DataLoader.cpp",
			Match: []pattern.Sample{
				{Line: `RuntimeError: DataLoader worker (pid 3216) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.`, Want: parser.Fields{"pid": "3216"}},
				{Line: `RuntimeError: DataLoader worker (pid 77) is killed by signal: 总线错误. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.`, Want: parser.Fields{"pid": "77"}},
			},
			NoMatch: []string{`RuntimeError: DataLoader worker (pid 3216) is killed by signal: Killed. `},
		},
		{
			Name:     "dataloader.signal",
			Literals: []string{") is killed by signal: "},
			Expr:     `DataLoader worker \(pid (?<pid>\d+)\) is killed by signal: (?!Killed|已杀死|Getötet|強制終了|Bus error|[^.]{1,40}\. It is possible)(?<signal>[^.]{1,40})`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "torch 1.0-2.11 torch/csrc/DataLoader.cpp",
			Match: []pattern.Sample{
				{Line: `RuntimeError: DataLoader worker (pid 41) is killed by signal: Segmentation fault. `, Want: parser.Fields{"pid": "41", "signal": "Segmentation fault"}},
				{Line: `RuntimeError: DataLoader worker (pid 42) is killed by signal: Terminated. `, Want: parser.Fields{"pid": "42", "signal": "Terminated"}},
			},
		},
		{
			Name:     "dataloader.exited",
			Literals: []string{") exited unexpectedly with exit code "},
			Expr:     `DataLoader worker \(pid (?<pid>\d+)\) exited unexpectedly with exit code (?<exitcode>-?\d+)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "torch 1.0-2.11 torch/csrc/DataLoader.cpp",
			Match: []pattern.Sample{
				{Line: `RuntimeError: DataLoader worker (pid 512) exited unexpectedly with exit code 1. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.`, Want: parser.Fields{"pid": "512", "exitcode": "1"}},
			},
			NoMatch: []string{`RuntimeError: DataLoader worker (pid(s) 512) exited unexpectedly`},
		},
		{
			Name:     "dataloader.gone",
			Literals: []string{"DataLoader worker (pid(s) "},
			Expr:     `DataLoader worker \(pid\(s\) (?<pids>(?<pid>\d+)(?:, \d+){0,1023})\) exited unexpectedly`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "torch 1.2-2.11 torch/utils/data/dataloader.py; the first pid is in pid, the list in pids",
			Match: []pattern.Sample{
				{Line: `RuntimeError: DataLoader worker (pid(s) 24840) exited unexpectedly`, Want: parser.Fields{"pid": "24840", "pids": "24840"}},
				{Line: `RuntimeError: DataLoader worker (pid(s) 3216, 3217, 3224) exited unexpectedly`, Want: parser.Fields{"pid": "3216", "pids": "3216, 3217, 3224"}},
			},
			NoMatch: []string{`    raise RuntimeError('DataLoader worker (pid(s) {}) exited unexpectedly'.format(pids_str)) from e`},
		},
		{
			Name:     "dataloader.augmenters_gone",
			Literals: []string{"background workers are no longer alive"},
			Expr:     `^RuntimeError: One or more background workers are no longer alive\b`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "batchgenerators 0.2x, dataloading/nondet_multi_threaded_augmenter.py, which nnU-Net augments its data with",
			Match: lines(
				"RuntimeError: One or more background workers are no longer alive. Exiting. Please check the print statements above for the actual error message",
			),
			NoMatch: []string{`    raise RuntimeError("One or more background workers are no longer alive. Exiting. Please check the "`},
		},
		{
			Name:     "dataloader.exporters_gone",
			Literals: []string{"background workers are no longer alive"},
			Expr:     `^RuntimeError: Some background workers are no longer alive\s*$`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source:  "nnU-Net 2, utilities/file_path_utilities.py: of the pool that resamples predictions and writes them",
			Match:   lines("RuntimeError: Some background workers are no longer alive"),
			NoMatch: []string{`        raise RuntimeError('Some background workers are no longer alive')`},
		},
		{
			Name:     "dataloader.pin_memory",
			Literals: []string{"Pin memory thread exited unexpectedly"},
			Expr:     `RuntimeError: Pin memory thread exited unexpectedly`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source:  "torch 1.2-2.11 torch/utils/data/dataloader.py",
			Match:   lines(`RuntimeError: Pin memory thread exited unexpectedly`),
			NoMatch: []string{`            raise RuntimeError('Pin memory thread exited unexpectedly')`},
		},
		{
			// Written by the worker's signal handler, often behind a progress bar without a newline.
			Name:     "dataloader.bus_line",
			Literals: []string{"Unexpected bus error encountered in worker"},
			Expr:     `ERROR: Unexpected bus error encountered in worker`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "data",
			Source: "torch 1.0-2.11 torch/csrc/DataLoader.cpp SIGNAL_HANDLER",
			Match: lines(
				`ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).`,
				`   1280:   5%|6         | 26/437 [00:28<04:33,  1.16it/s]ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).`,
			),
		},
		{
			Name:     "dataloader.fault_line",
			Literals: []string{"Unexpected segmentation fault encountered in worker", "Unexpected floating-point exception encountered in worker"},
			Expr:     `ERROR: Unexpected (?<signal>segmentation fault|floating-point exception) encountered in worker`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source:  "torch 1.0-2.11 torch/csrc/DataLoader.cpp SIGNAL_HANDLER",
			Match:   []pattern.Sample{{Line: `ERROR: Unexpected segmentation fault encountered in worker.`, Want: parser.Fields{"signal": "segmentation fault"}}},
			NoMatch: []string{`ERROR: Unexpected bus error encountered in worker.`},
		},
	}
}

// poolPatterns are those of other pools of worker processes.
func poolPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "datasets.map_died",
			Literals: []string{"One of the subprocesses has abruptly died during map operation"},
			Expr:     `RuntimeError: One of the subprocesses has abruptly died during map operation`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Phase: "data",
			Source:  "huggingface/datasets src/datasets/utils/py_utils.py iflatmap_unordered: a worker's pid changed",
			Match:   lines(`RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.`),
			NoMatch: []string{`                        "One of the subprocesses has abruptly died during map operation."`},
		},
		{
			Name:     "pool.broken",
			Literals: []string{"A process in the process pool was terminated abruptly"},
			Expr:     `BrokenProcessPool: A process in the process pool was terminated abruptly`,
			Kind:     parser.OOMKill, Role: parser.Suspicion,
			Source: "CPython 3.2-3.14 Lib/concurrent/futures/process.py",
			Match:  lines(`concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.`),
		},
		{
			Name:     "pool.workers_died",
			Literals: []string{"scheduler.KilledWorker: ", "DeadKernelError: Kernel died"},
			Expr:     `distributed\.scheduler\.KilledWorker: |\bDeadKernelError: Kernel died`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, GaveUp: true,
			Source: "dask.distributed, distributed/scheduler.py: each worker that tried the task died; nbclient, nbclient/exceptions.py (papermill)",
			Match: lines(
				"distributed.scheduler.KilledWorker: Attempted to run task ('readparquet-1', 1) on 4 different workers, but all those workers died while running it.",
				"nbclient.exceptions.DeadKernelError: Kernel died",
			),
		},
		{
			Name:     "pool.unusable",
			Literals: []string{"the process pool is not usable anymore"},
			Expr:     `A child process terminated abruptly, the process pool is not usable anymore`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "CPython 3.7-3.14 Lib/concurrent/futures/process.py: said to those who submit later",
			Match:  lines(`concurrent.futures.process.BrokenProcessPool: A child process terminated abruptly, the process pool is not usable anymore`),
		},
		{
			Name:     "batchgenerators.worker_gone",
			Literals: []string{"or because it was killed by your OS due to running out of RAM"},
			Expr:     `background processes is missing\. .{1,120}or because it was killed by your OS due to running out of RAM`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Phase: "data", Source: "batchgenerators 0.24, nnU-Net 2 preprocessing: any end of a worker looks so",
			Match: lines("One of your background processes is missing. This could be because of an error (look for an error message) or because it was killed by your OS due to running out of RAM. If you don't see an error message, out of RAM is likely the problem."),
		},
		{
			// The exit codes are on the same line or on one of their own; once told, they decide.
			Name:     "loky.terminated",
			Literals: []string{"worker process managed by the executor was unexpectedly terminated"},
			Expr:     `A worker process managed by the executor was unexpectedly terminated(?!.{0,400}exit codes of the workers are)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion,
			Source:  "joblib/loky loky/process_executor.py TerminatedWorkerError",
			Match:   lines(`joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated. This could be caused by a segmentation fault while calling the function or by an excessive memory usage causing the Operating System to kill the worker.`),
			NoMatch: []string{`TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated. The exit codes of the workers are {SIGSEGV(-11)}`},
		},
		{
			Name:     "loky.sigkill",
			Literals: []string{"exit codes of the workers are {"},
			Expr:     `exit codes of the workers are \{[^}]{0,400}SIGKILL\(-9\)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source: "joblib/loky loky/process_executor.py",
			Match: lines(
				`A worker process managed by the executor was unexpectedly terminated. This could be caused by an excessive memory usage causing the Operating System to kill the worker. The exit codes of the workers are {SIGKILL(-9), EXIT(1)}`,
				`The exit codes of the workers are {SIGKILL(-9)}`,
			),
		},
		{
			Name:     "loky.exit",
			Literals: []string{"exit codes of the workers are {"},
			Expr:     `exit codes of the workers are \{(?![^}]{0,400}SIGKILL\(-9\))`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "joblib/loky loky/process_executor.py",
			Match:  lines(`The exit codes of the workers are {SIGSEGV(-11)}`),
		},
	}
}
