// Package postgres keeps the objects of an object.Bucket in a PostgreSQL database.
//
// The table "objects" has a row for each 4 MiB of an object. Part 0 always exists; it holds the name,
// and its primary key lets one creator win:
//
//	name  text COLLATE "C"   the object's name
//	part  integer            number of the piece, from 0
//	size  bigint             length of the whole object in bytes
//	data  bytea              the piece, not compressed and not inline, so that a range is read alone
//
// Create, Read and List are single statements under READ COMMITTED. Put and Upload replace all rows of
// a name in one transaction.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/omnigraph-go/omnigraph/internal/object"
)

// partSize is the length of every piece of an object but the last. It is stored, so it never changes.
const partSize = 4 << 20

// afterAll is greater than every character of a name.
const afterAll = "~"

// Bucket is an object.Bucket in one schema of a database.
type Bucket struct{ pool *pgxpool.Pool }

// Close closes the connections to the database.
func (b *Bucket) Close() { b.pool.Close() }

// Create implements object.Bucket.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	parts := split(data)
	var made int
	// One statement is one transaction: the later parts exist if and only if part 0 was made here.
	err := b.pool.QueryRow(ctx, `
		WITH made AS (
			INSERT INTO objects (name, part, size, data) VALUES ($1, 0, $2, $3)
			ON CONFLICT DO NOTHING RETURNING name
		), rest AS (
			INSERT INTO objects (name, part, size, data)
			SELECT made.name, p.part, $2, p.data FROM made, unnest($4::bytea[]) WITH ORDINALITY AS p (data, part)
		)
		SELECT count(*) FROM made`, name, len(data), parts[0], parts[1:]).Scan(&made)
	if err != nil {
		return explain("creating", name, err)
	}
	if made == 0 {
		return fmt.Errorf("creating %s: %w", name, object.ErrExists)
	}
	return nil
}

// Put implements object.Bucket.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	return b.replace(ctx, name, int64(len(data)), func(write func([]byte) error) error {
		for _, part := range split(data) {
			if err := write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// Upload implements object.Bucket.
func (b *Bucket) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := check(ctx, name, nil); err != nil {
		return err
	}
	return b.replace(ctx, name, size, func(write func([]byte) error) error {
		buffer := make([]byte, min(size, partSize))
		for left, first := size, true; left > 0 || first; first = false {
			part := buffer[:min(left, partSize)]
			if _, err := io.ReadFull(r, part); err != nil {
				return &contentError{name: name, size: size, err: err}
			}
			if err := write(part); err != nil {
				return err
			}
			left -= int64(len(part))
		}
		if n, err := r.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
			return &contentError{name: name, size: size, err: err}
		}
		return nil
	})
}

// Read implements object.Bucket.
func (b *Bucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := check(ctx, name, nil); err != nil {
		return nil, err
	}
	if err := object.CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	end := int64(math.MaxInt64)
	if length != object.Whole && length < math.MaxInt64-offset {
		end = offset + length
	}
	// Part 0 is always read, perhaps with no bytes of it, because it shows that the object exists.
	rows, err := b.pool.Query(ctx, `
		SELECT substring(data
			FROM least(greatest($2 - part::bigint * $4, 0), $4)::int + 1
			FOR (least(greatest($3 - part::bigint * $4, 0), $4) - least(greatest($2 - part::bigint * $4, 0), $4))::int)
		FROM objects
		WHERE name = $1 AND (part = 0 OR part::bigint * $4 < $3 AND (part + 1)::bigint * $4 > $2)
		ORDER BY part`, name, offset, end, int64(partSize))
	if err != nil {
		return nil, explain("reading", name, err)
	}
	parts, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	switch {
	case err != nil:
		return nil, explain("reading", name, err)
	case len(parts) == 0:
		return nil, fmt.Errorf("reading %s: %w", name, object.ErrNotFound)
	}
	data := parts[0]
	for _, part := range parts[1:] {
		data = append(data, part...)
	}
	return data, nil
}

// List implements object.Bucket.
func (b *Bucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if err := object.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := b.pool.Query(ctx, `
		SELECT name, size FROM objects
		WHERE part = 0 AND name > $2 AND name >= $1 AND name < $3 ORDER BY name LIMIT $4`,
		prefix, after, prefix+afterAll, limit)
	if err != nil {
		return nil, explain("listing", prefix, err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByPos[object.Entry])
	if err != nil {
		return nil, explain("listing", prefix, err)
	}
	return entries, nil
}

// Delete implements object.Bucket.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := check(ctx, name, nil); err != nil {
		return err
	}
	if _, err := b.pool.Exec(ctx, `DELETE FROM objects WHERE name = $1`, name); err != nil {
		return explain("deleting", name, err)
	}
	return nil
}

// replace replaces all parts of an object in one transaction. The function `content` passes the parts
// to `write`, in order.
func (b *Bucket) replace(ctx context.Context, name string, size int64, content func(write func([]byte) error) error) error {
	err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		// Another Put of this name waits here, so that the parts of two contents are never mixed.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM objects WHERE name = $1`, name); err != nil {
			return err
		}
		part := 0
		return content(func(data []byte) error {
			_, err := tx.Exec(ctx, `INSERT INTO objects (name, part, size, data) VALUES ($1, $2, $3, $4)`, name, part, size, data)
			part++
			return err
		})
	})
	if wrong := (*contentError)(nil); errors.As(err, &wrong) {
		return wrong
	}
	if err != nil {
		return explain("storing", name, err)
	}
	return nil
}

// contentError reports that the reader given to Upload failed or does not have the announced length.
type contentError struct {
	name string
	size int64
	err  error // of the reader, nil if it has too many bytes
}

func (e *contentError) Error() string {
	return fmt.Sprintf("the content of the object %s does not have the %d bytes that the caller of Upload announced, or cannot be read: %v", e.name, e.size, e.err)
}

func (e *contentError) Unwrap() error { return e.err }

// check returns the error of a call whose context, name or data is not valid.
func check(ctx context.Context, name string, data []byte) error {
	if err := object.CheckName(name); err != nil {
		return err
	}
	if err := object.CheckData(name, data); err != nil {
		return err
	}
	return ctx.Err()
}

// split cuts data into parts. The first one exists even if it is empty.
func split(data []byte) [][]byte {
	first := min(len(data), partSize)
	parts := [][]byte{data[:first]}
	if first == 0 {
		parts[0] = []byte{} // nil would be stored as NULL
	}
	for data = data[first:]; len(data) > 0; {
		n := min(len(data), partSize)
		parts = append(parts, data[:n])
		data = data[n:]
	}
	return parts
}
