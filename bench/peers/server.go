package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

// startPostgres starts a PostgreSQL server in a folder. It accepts connections over a Unix socket. The
// error is an *absentError if PostgreSQL is not installed.
func startPostgres(ctx context.Context, dir string) (*pgserver.Server, error) {
	// The durability settings are the defaults. The other settings are the ones that tuning guides
	// recommend first for data that fits in memory. Just-in-time compilation would only slow these
	// queries.
	s, err := pgserver.New(ctx, dir, false, "shared_buffers=512MB", "work_mem=64MB", "maintenance_work_mem=256MB", "effective_cache_size=4GB",
		"random_page_cost=1.1", "jit=off", "max_wal_size=4GB")
	if a := (*pgserver.Absent)(nil); errors.As(err, &a) {
		return nil, absent("%s", a.Reason)
	}
	return s, err
}

// diskBytes returns the disk space that the files below a folder use.
func diskBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n += info.Sys().(*syscall.Stat_t).Blocks * 512
		return nil
	})
	return n, err
}
