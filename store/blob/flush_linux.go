package blob

import (
	"os"
	"syscall"
)

const syncFileRangeWrite = 2 // SYNC_FILE_RANGE_WRITE of sync_file_range(2)

// startFlush lets the disk begin to write a range of the file, so that the Sync at the end has less to wait for. It promises
// nothing, and nothing depends on it.
func startFlush(f *os.File, offset, n int64) {
	_ = syscall.SyncFileRange(int(f.Fd()), offset, n, syncFileRangeWrite)
}
