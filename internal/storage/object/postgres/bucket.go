// Package postgres keeps the objects of an object.Bucket in a PostgreSQL database.
//
// The table "objects" has a row for each part of an object; a part has at most 4 MiB. Part 0 always
// exists. Its primary key reserves the name of the object, so only one creator wins:
//
//	name  text COLLATE "C"   the object's name
//	part  integer            number of the part, from 0
//	size  bigint             length of the whole object in bytes
//	data  bytea              bytes of the part, not compressed and not inline, so that PostgreSQL
//	                         can read a range without the rest
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
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// partSize is the length in bytes of every part of an object except the last. Stored objects depend
// on it, so it never changes.
const partSize = 4 << 20

// afterAll is greater than every character of a name.
const afterAll = "~"

// Bucket is an object.Bucket in one schema of a database.
type Bucket struct{ pool *pgxpool.Pool }

// Close closes the connections to the database.
func (b *Bucket) Close() { b.pool.Close() }

// Create implements object.Bucket.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	if err := object.Check(ctx, name, data); err != nil {
		return err
	}
	parts := split(data)
	var made int
	// The statement is one transaction: it inserts the later parts if and only if it inserted part
	// 0.
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
	if err := object.Check(ctx, name, data); err != nil {
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
	if err := object.CheckUpload(ctx, name, size); err != nil {
		return err
	}
	return b.replace(ctx, name, size, func(write func([]byte) error) error {
		buffer := make([]byte, min(size, partSize))
		for left, first := size, true; left > 0 || first; first = false {
			part := buffer[:min(left, partSize)]
			if _, err := io.ReadFull(r, part); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return &object.SizeError{Name: name, Size: size}
			} else if err != nil {
				return &readerError{err}
			}
			if err := write(part); err != nil {
				return err
			}
			left -= int64(len(part))
		}
		switch _, err := io.ReadFull(r, make([]byte, 1)); {
		case err == nil:
			return &object.SizeError{Name: name, Size: size}
		case !errors.Is(err, io.EOF):
			return &readerError{err}
		}
		return nil
	})
}

// Read implements object.Bucket.
func (b *Bucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := object.Check(ctx, name, nil); err != nil {
		return nil, err
	}
	if err := object.CheckRange(name, offset, length); err != nil {
		return nil, err
	}
	end := int64(math.MaxInt64)
	if length != object.Whole && length < math.MaxInt64-offset {
		end = offset + length
	}
	// The query always selects the row of part 0, perhaps with none of its bytes, because that row
	// shows that the object exists.
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
	if err := object.Check(ctx, name, nil); err != nil {
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
		// Another Put or Upload of this name waits here, so that parts of different contents are
		// never mixed.
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
	wrong, reader := (*object.SizeError)(nil), (*readerError)(nil)
	if errors.As(err, &wrong) || errors.As(err, &reader) {
		return fmt.Errorf("storing %s: %w", name, err) // the transaction was rolled back
	}
	if err != nil {
		return explain("storing", name, err)
	}
	return nil
}

// readerError reports that the reader given to Upload failed.
type readerError struct{ error }

// Unwrap returns the error of the reader.
func (e *readerError) Unwrap() error { return e.error }

// split cuts data into parts. The first part exists even if data is empty.
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
