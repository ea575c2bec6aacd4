# Ends a server when those that used it are gone, however they went.
# Arguments: private or shared, the server's folder, pg_ctl, and how many seconds a shared server outlasts its users.
mode=$1 home=$2 pg_ctl=$3 linger_seconds=$4

# Whoever started this may leave its terminal.
trap '' HUP INT

# Each data directory is stopped and removed. Who still writes into one, left behind by a killed process, ends when its
# files are gone, and a server does too.
end_servers() {
  for data in "$home"/data-*; do
    pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null)
    if [ -n "$pid" ] && [ "/proc/$pid/cwd" -ef "$data" ]; then
      kill -s CONT "$pid"
      "$pg_ctl" -D "$data" -m immediate -t 30 stop
    fi
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
      rm -rf "$data" && break
      sleep 1
    done
  done
}

# Nobody ever writes to the standard input: it ends with the process that holds its other end.
keep_private() {
  cat >/dev/null
  end_servers
  rmdir "$home"
}

# Every user holds a shared lock on `users` and took it under `lock`. So under `lock`, and with `users` locked by nobody,
# nobody can come any more until `lock` is released. Who waited for it then finds that the file is gone, and starts over.
# `lock` is therefore the last file to be removed, and after it nothing but an empty folder.
# The descriptors 8 and 9 are locks of this process and not of those that it starts.
keep_shared() {
  exec 9<"$home/keeper" || exit 1
  flock -n 9 || exit 0
  while flock -x "$home/users" true 9<&-; do
    sleep "$linger_seconds" 9<&-
    exec 8<"$home/lock" || exit 1
    flock -x 8
    if flock -n -x "$home/users" true 8<&- 9<&-; then
      end_servers
      rm -f "$home/users" "$home/keeper"
      rm -f "$home/lock"
      rmdir "$home"
      exit 0
    fi
    exec 8<&-
  done
}

"keep_$mode"
