package ojs

// #include "ojs.h"
import "C"

import (
	"context"
	"encoding/json"
	"log/slog"
)

// logWait is how long a pull of records may take: so much later CollectLogs notices the end of its context.
const logWait = 500

// CollectLogs hands the engine's own log records (connections, retries, leases) to a logger, until the context ends; it is meant for a
// goroutine: go ojs.CollectLogs(ctx, slog.Default(), slog.LevelWarn). Without it the engine is silent. There is one per process.
func CollectLogs(ctx context.Context, logger *slog.Logger, level slog.Level) {
	C.ojs_logs_level(C.uint8_t(numberOf(level)))
	defer C.ojs_logs_level(0)
	for ctx.Err() == nil {
		var buf *C.ojs_buf
		if err := takeError(C.ojs_logs_pull(256, logWait, &buf)); err != nil {
			logger.Error("ojs: the engine's log cannot be read", "error", err)
			return
		}
		emit(ctx, logger, takeBuf(buf))
	}
}

func emit(ctx context.Context, logger *slog.Logger, pulled []byte) {
	var found struct {
		Lost    int
		Records []struct {
			Level        int
			Target, Text string
		}
	}
	if err := json.Unmarshal(pulled, &found); err != nil {
		logger.Error("ojs: the engine's log cannot be read", "error", err)
		return
	}
	if found.Lost > 0 {
		logger.Warn("ojs: log records were lost, the logger is too slow", "count", found.Lost)
	}
	for _, record := range found.Records {
		logger.Log(ctx, levelOf(record.Level), record.Text, "target", record.Target)
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
