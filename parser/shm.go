package parser

// shmPatterns are failures of /dev/shm outside of NCCL.
func shmPatterns() []Pattern {
	return nil
}
