// Package epilog is the Slurm hook: when a job ends on a node, it reads the job's logs and writes a report next to them.
//
// Mistakes are expensive here. A hook that fails, hangs or prints drains the node, and it starts as root with paths that
// the job's user chose. So the work is divided:
//
//   - The parent (hook_linux.go) is what Slurm starts. It reads Slurm's environment, the configuration (a file that only
//     root can write), and what the kernel's log contains about this job. It opens no path of a user. It starts the child,
//     waits for it until the deadline at most, and makes root's deliveries: counters, a spool folder, the accounting's
//     comment, a log of its own. Whatever happens, it exits with status 0 and prints nothing.
//   - The child (child_linux.go) is the same program, started again as the job's user with the user's groups. It finds the
//     logs (find_linux.go), opens them safely (open_linux.go), reads them within a budget (budget_linux.go, view_linux.go),
//     and writes the report (write_linux.go). Its answer to the parent is a small document that the parent does not trust,
//     because the user may have forged it.
//
// The facts about Slurm in this package were tried on 22.05 and checked in the sources up to 26.05; comments name the
// version where it matters.
package epilog
