//go:build cgo

package ojs

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"strings"
	"time"
)

const (
	// sqlitePatience is how long the relay waits for others to finish writing.
	sqlitePatience = 10 * time.Second
	sqlitePause    = 5 * time.Millisecond
)

// sqliteHost runs the relay's statements with the application's own driver: in this process no other driver may open the file.
type sqliteHost struct {
	mailbox *mailbox
	over    chan struct{}
	cancel  context.CancelFunc
}

func startSQLiteHost(db *sql.DB) (*sqliteHost, error) {
	box, err := newMailbox()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &sqliteHost{box, make(chan struct{}), cancel}
	go func() {
		defer close(h.over)
		defer box.free()
		for {
			request, over := box.pull()
			if over {
				return
			}
			answer, err := performJSON(ctx, db, request.body)
			status := 200
			if err != nil {
				status, answer = 500, []byte(err.Error())
			}
			// The relay may have gone.
			_ = box.reply(request.ticket, status, answer, nil)
		}
	}()
	return h, nil
}

func (h *sqliteHost) close() {
	h.cancel()
	h.mailbox.close()
	<-h.over
}

// relayStatement is a statement of the relay.
type relayStatement struct {
	SQL    string
	Params []any
}

func (s relayStatement) reads() bool { return strings.HasPrefix(s.SQL, "SELECT") }

func performJSON(ctx context.Context, db *sql.DB, body []byte) ([]byte, error) {
	var statements []relayStatement
	if err := decode(body, &statements); err != nil {
		return nil, err
	}
	answers, err := runTogether(ctx, db, statements)
	if err != nil {
		return nil, err
	}
	return encode(answers)
}

// runTogether runs all statements in one transaction and gives the rows of each. The connection is the pool's: it is held no longer than that.
func runTogether(ctx context.Context, db *sql.DB, statements []relayStatement) (answers [][][]any, err error) {
	begin := "BEGIN"
	for _, statement := range statements {
		if !statement.reads() {
			begin = "BEGIN IMMEDIATE"
		}
	}
	connection, err := beginOnIdle(ctx, db, begin)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	defer func() { err = finish(ctx, connection, err) }()
	for _, statement := range statements {
		rows, err := runStatement(ctx, connection, statement)
		if err != nil {
			return nil, err
		}
		answers = append(answers, rows)
	}
	return answers, nil
}

// beginOnIdle begins on a connection of the pool. One that was given back in the middle of a transaction would
// show rows that are not committed: it is thrown away, and SQLite rolls back.
func beginOnIdle(ctx context.Context, db *sql.DB, begin string) (*sql.Conn, error) {
	for {
		connection, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		err = beginInTurn(ctx, connection, begin)
		if err == nil {
			return connection, nil
		}
		if !strings.Contains(err.Error(), "within a transaction") {
			_ = connection.Close()
			return nil, err
		}
		discard(connection)
	}
}

// beginInTurn waits for its turn to write: the connection may have no time-out of its own.
func beginInTurn(ctx context.Context, connection *sql.Conn, begin string) error {
	for end := time.Now().Add(sqlitePatience); ; {
		_, err := connection.ExecContext(ctx, begin)
		if err == nil || !isBusy(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(sqlitePause):
		}
	}
}

// discard closes a connection instead of giving it back to its pool.
func discard(connection *sql.Conn) {
	_ = connection.Raw(func(any) error { return driver.ErrBadConn })
}

// finish commits, or rolls back when something went wrong.
func finish(ctx context.Context, connection *sql.Conn, wrong error) error {
	if wrong == nil {
		_, wrong = connection.ExecContext(ctx, "COMMIT")
	}
	if wrong != nil {
		if _, err := connection.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
			// Not with a transaction open may it go back to the pool.
			discard(connection)
		}
	}
	return wrong
}

func runStatement(ctx context.Context, connection *sql.Conn, statement relayStatement) (found [][]any, err error) {
	for i, value := range statement.Params {
		if number, ok := value.(json.Number); ok {
			if statement.Params[i], err = number.Int64(); err != nil {
				return nil, err
			}
		}
	}
	if !statement.reads() && !strings.Contains(statement.SQL, "RETURNING") {
		_, err := connection.ExecContext(ctx, statement.SQL, statement.Params...)
		return [][]any{}, err
	}
	rows, err := connection.QueryContext(ctx, statement.SQL, statement.Params...)
	if err != nil {
		return nil, err
	}
	return readRows(rows)
}
