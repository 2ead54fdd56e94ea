# Keeps one database server: supervise.sh DIRECTORY SIGNAL PROGRAM ARGUMENTS…
# Orders come on standard input, one a line, `start` or the signal that stops it; each is answered with a line. The end of the input, which comes when the process
# that started this ends for whatever reason, ends the server by SIGNAL and removes the directory.
directory=$1
end=$2
shift 2

start() {
  "$@" >>"$directory/log" 2>&1 </dev/null &
  server=$!
}

stop() {
  kill "-$1" "$server" 2>/dev/null
  wait "$server" 2>/dev/null
}

start "$@"
while read -r order; do
  case $order in
    start) start "$@" ;;
    *) stop "$order" ;;
  esac
  echo "$order"
done
stop "$end"
rm -rf -- "$directory"
