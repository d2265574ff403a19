#!/bin/sh
# Runs README's two commands (the indented lines that begin with ./gpusim) on a bare Debian 12, as debootstrap makes it: once as
# root, once as an ordinary user with sudo. Says what happened and exits with 1 if a command failed.
#
#   sudo scripts/bare_machine.sh [--only root|user] [--first] [FOLDER]
#
# --first leaves out the second command (minutes instead of half an hour). FOLDER (default: a temporary one, removed at the end)
# keeps the system, the copies of the source tree and the logs. What is tested is the working tree as `git ls-files` lists it.
# Needs root and the packages debootstrap and git; packages come from the mirror that MIRROR names (default: Debian's own).
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
who="root user"
first_only=""
folder=""
while [ $# -gt 0 ]; do
  case $1 in
    --only)
      who=${2:-}
      case $who in root | user) ;; *) echo "bare_machine: --only takes root or user"; exit 1 ;; esac
      shift
      ;;
    --first) first_only=yes ;;
    -*) echo "bare_machine: there is no option $1; usage: scripts/bare_machine.sh [--only root|user] [--first] [FOLDER]"; exit 1 ;;
    *) folder=$1 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || { echo "bare_machine: must run as root (debootstrap and chroot need it)"; exit 1; }
for tool in debootstrap git; do
  command -v $tool >/dev/null 2>&1 || { echo "bare_machine: $tool is not installed"; exit 1; }
done
keep=yes
if [ -z "$folder" ]; then
  keep=""
  folder=$(mktemp -d /var/tmp/bare_machine.XXXXXX)
fi
mkdir -p "$folder"
folder=$(CDPATH= cd -- "$folder" && pwd)

unmount() {
  for account in $who; do
    umount "$folder/$account/dev/pts" 2>/dev/null || true
    umount "$folder/$account/proc" 2>/dev/null || true
  done
}
finish() {
  unmount
  [ -n "$keep" ] || rm -rf --one-file-system "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

if [ ! -e "$folder/base.complete" ]; then
  echo "bare_machine: making a minimal Debian 12 in $folder/base"
  rm -rf --one-file-system "$folder/base"
  debootstrap --variant=minbase bookworm "$folder/base" "$mirror" >"$folder/debootstrap.log" 2>&1 || {
    tail -n 5 "$folder/debootstrap.log"
    exit 1
  }
  : >"$folder/base.complete"
fi

commands=$(sed -n 's/^    \(\.\/gpusim.*\)$/\1/p' "$here/README.md" | head -n 2)
[ -z "$first_only" ] || commands=$(printf '%s\n' "$commands" | head -n 1)
failed=0
for account in $who; do
  system=$folder/$account
  umount "$system/dev/pts" 2>/dev/null || true
  umount "$system/proc" 2>/dev/null || true
  rm -rf --one-file-system "$system"
  cp -a "$folder/base" "$system"
  cp -L /etc/resolv.conf "$system/etc/resolv.conf"
  mount -t proc proc "$system/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"
  ln -sf pts/ptmx "$system/dev/ptmx"
  home=/root
  run="chroot $system"
  if [ "$account" = user ]; then
    home=/home/user
    {
      chroot "$system" apt-get update -q
      chroot "$system" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends sudo
      chroot "$system" useradd --create-home user
      echo 'user ALL=(ALL) NOPASSWD: ALL' >"$system/etc/sudoers.d/user"
    } >"$folder/$account.log" 2>&1
    run="chroot --userspec=user:user $system"
  fi
  before=$(chroot "$system" dpkg-query -W -f '${Package}\n' | wc -l)
  mkdir "$system$home/gpusim"
  (cd "$here" && git ls-files -z | tar --null --files-from=- --create --file=-) | tar -C "$system$home/gpusim" --extract --file=-
  [ "$account" = root ] || chroot "$system" chown -R user:user "$home/gpusim"
  number=0
  printf '%s\n' "$commands" >"$folder/$account.commands"
  while IFS= read -r command; do
    number=$((number + 1))
    log=$folder/$account.$number.log
    echo "bare_machine: $account: $command"
    code=0
    # shellcheck disable=SC2086
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$home LANG=C.UTF-8 \
      $run /bin/bash -c "cd $home/gpusim && time $command" </dev/null >"$log" 2>&1 || code=$?
    [ $code = 0 ] || failed=1
    echo "bare_machine: $account: exit code $code, $(grep -P '^(real|user|sys)\t' "$log" | tr '\t\n' '  ')"
    if [ $code = 0 ]; then grep -E '^(verified|100% tests)' "$log" || true; else tail -n 30 "$log"; fi
  done <"$folder/$account.commands"
  echo "bare_machine: $account: $(($(chroot "$system" dpkg-query -W -f '${Package}\n' | wc -l) - before)) packages were installed"
  umount "$system/dev/pts" "$system/proc"
done
if [ $failed = 0 ]; then echo "bare_machine: all commands passed"; else echo "bare_machine: FAILED"; fi
exit $failed
