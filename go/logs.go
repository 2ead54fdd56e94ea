package ojs

// #include "ojs.h"
import "C"

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// logWait is how long one look for records may take, in milliseconds: so much later CollectLogs notices the end of its
// context.
const logWait = 500

// CollectLogs hands the engine's own log records (connections, retries, leases) to a logger, until the context ends;
// it is meant for a goroutine: go ojs.CollectLogs(ctx, slog.Default(), slog.LevelInfo). Warnings and errors reach the
// logger of the worker that they are about, else slog.Default(), without it, while a worker or a relay of this process
// runs; this is for more, and for programs with neither. A logger gets no record twice.
func CollectLogs(ctx context.Context, logger *slog.Logger, level slog.Level) {
	listener := &logListener{logger: logger, level: level}
	logs.add(listener)
	<-ctx.Done()
	logs.remove(listener)
}

// noWorker is the name of a listener for the records that are about no worker of this process.
const noWorker = "-"

// relayLog is the listener of a relay: what holds up an outbox, or is refused by the server, is a warning.
func relayLog() *logListener { return &logListener{worker: noWorker, level: slog.LevelWarn} }

// logListener gets records: those about one worker, or all.
type logListener struct {
	worker string       // Its id, or noWorker; empty for all records.
	logger *slog.Logger // Nil is slog.Default(), which may be another one tomorrow.
	level  slog.Level
}

func (l *logListener) out() *slog.Logger {
	if l.logger == nil {
		return slog.Default()
	}
	return l.logger
}

// logPump carries records from the engine to the loggers while there are listeners. There is one per process, as there is
// one engine.
type logPump struct {
	mu        sync.Mutex // Records leave the engine under it only: who holds it has seen all that were made before.
	listeners []*logListener
	running   bool
}

var logs logPump

func (p *logPump) add(listener *logListener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners = append(p.listeners, listener)
	p.setLevel()
	if !p.running {
		p.running = true
		go p.run()
	}
}

// remove ends a listener, when it has got what was said so far.
func (p *logPump) remove(listener *logListener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.carry()
	for i, one := range p.listeners {
		if one == listener {
			p.listeners = append(p.listeners[:i:i], p.listeners[i+1:]...)
			break
		}
	}
	p.setLevel()
}

// setLevel is for who holds the lock.
func (p *logPump) setLevel() {
	number := 0
	for _, listener := range p.listeners {
		number = max(number, numberOf(listener.level))
	}
	C.ojs_logs_level(C.uint8_t(number))
}

func (p *logPump) run() {
	for {
		// Waits for a record and takes none.
		C.ojs_buf_free(p.look(0, logWait))
		p.mu.Lock()
		if len(p.listeners) == 0 {
			p.running = false
			p.mu.Unlock()
			return
		}
		carried := p.carry()
		p.mu.Unlock()
		if !carried {
			time.Sleep(logWait * time.Millisecond) // The engine gives none: its error has been said.
		}
	}
}

// look gives the records as the engine has them; nil when that went wrong.
func (p *logPump) look(most, waitMS int) *C.ojs_buf {
	var buf *C.ojs_buf
	if err := takeError(C.ojs_logs_pull(C.size_t(most), C.uint64_t(waitMS), &buf)); err != nil {
		slog.Error("ojs: the engine's log cannot be read", "error", err)
		return nil
	}
	return buf
}

// carry takes all records out of the engine; it is for who holds the lock. False when the engine gives none.
func (p *logPump) carry() bool {
	const most = 256
	for {
		var found pulledLogs
		buf := p.look(most, 0)
		if buf == nil {
			return false
		}
		if err := json.Unmarshal(takeBuf(buf), &found); err != nil {
			slog.Error("ojs: the engine's log cannot be read", "error", err)
			return false
		}
		if found.Lost > 0 {
			slog.Warn("ojs: log records were lost, the logger is too slow", "count", found.Lost)
		}
		for _, record := range found.Records {
			p.emit(record)
		}
		if len(found.Records) < most {
			return true
		}
	}
}

type pulledLogs struct {
	Lost    int
	Records []logRecord
}

type logRecord struct {
	Level        int
	Target, Text string
}

// isAbout says whether the record names this worker.
func (r logRecord) isAbout(worker string) bool {
	_, rest, named := strings.Cut(r.Text, " worker=")
	rest, same := strings.CutPrefix(rest, worker)
	return named && same && (rest == "" || rest[0] == ' ')
}

// emit hands a record to the worker that it is about, else to all workers' loggers at most once each, and to those who
// want all.
func (p *logPump) emit(record logRecord) {
	level := levelOf(record.Level)
	var about []*logListener
	for _, listener := range p.listeners {
		if listener.worker != "" && record.isAbout(listener.worker) {
			about = append(about, listener)
		}
	}
	told := map[*slog.Logger]bool{}
	for _, listener := range p.listeners {
		general := listener.worker == ""
		mine := !general && (len(about) == 0 || listener == about[0])
		if out := listener.out(); (general || mine) && !told[out] && level >= listener.level {
			told[out] = true
			if general {
				out.Log(context.Background(), level, record.Text, "target", record.Target)
			} else {
				out.Log(context.Background(), level, "ojs: "+record.Text)
			}
		}
	}
}

// levels by number of the engine, from 1: error, warn, info, debug, trace.
var levels = []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug, slog.LevelDebug - 4}

func numberOf(level slog.Level) int {
	number := 0
	for number < len(levels) && levels[number] >= level {
		number++
	}
	return number
}

func levelOf(number int) slog.Level { return levels[min(max(number, 1), len(levels))-1] }
