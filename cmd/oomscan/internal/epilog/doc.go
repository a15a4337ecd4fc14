// Package epilog is the Slurm hook: when a job ends on a node it reads the job's logs and leaves the answer beside them.
//
// It runs where a mistake is expensive. A hook that fails, hangs or prints drains the node, and it starts as root with
// paths that the job's user chose. So the work is divided:
//
//   - The parent (hook_linux.go) is what Slurm starts. It reads Slurm's environment, the configuration (a file that only root
//     can write), and what the kernel's log says about this job; it opens no path of a user. It starts the child, waits
//     for it no longer than the deadline, and makes the deliveries that belong to root: counters, a spool folder, the
//     accounting's comment, a log of its own. Whatever happens, it ends with status 0 and has printed nothing.
//   - The child (child_linux.go) is the same program, started anew as the job's user with the user's groups. It finds the logs
//     (find_linux.go), opens them safely (open_linux.go), reads them within a budget (budget_linux.go, view_linux.go), and writes the report
//     (write_linux.go). Its answer to the parent is a small document that the parent takes for what it is: the user's word.
//
// Facts about Slurm that this package builds on were tried on 22.05 and read in the sources up to 26.05; comments name
// the version where it matters.
package epilog
