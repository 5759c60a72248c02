/** CPU time and memory of processes, from /proc where it exists, otherwise from ps. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;
const hasProc = existsSync('/proc/self/stat');

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** Seconds of user and system time; `reaped` is that of children that have ended. */
  readonly own: number;
  readonly reaped: number;
}

/** The seconds of CPU time, user and system, that a process has used. */
export function cpuSeconds(pid: number): number {
  return (hasProc ? fromProc(pid) : fromPs(['-p', String(pid)])[0])?.own ?? 0;
}

/** The CPU time of a process and its descendants, including ended ones where the system counts them. */
export function cpuSecondsOfTree(root: number): number {
  const all = hasProc ? everyProcess() : fromPs(['-A']);
  const members = new Set([root]);
  let grown = true;
  while (grown) {
    grown = false;
    for (const { pid, parent } of all) {
      if (!members.has(parent) || members.has(pid)) continue;
      members.add(pid);
      grown = true;
    }
  }
  return all.filter(({ pid }) => members.has(pid)).reduce((sum, { own, reaped }) => sum + own + reaped, 0);
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  if (hasProc) {
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib ?? 0) / 1024;
  }
  return Number(ps(['-o', 'rss=', '-p', String(pid)]).trim()) / 1024;
}

function everyProcess(): ProcessTimes[] {
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (fromProc(Number(name)) ?? []) : []));
}

function fromProc(pid: number): ProcessTimes | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name, in brackets, may hold spaces; the fields after it start with number 3 (proc(5)).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const seconds = (first: number) => ((fields[first - 3] ?? 0) + (fields[first - 2] ?? 0)) / ticksPerSecond;
  return { pid, parent: fields[1] ?? 0, own: seconds(14), reaped: seconds(16) };
}

function fromPs(selection: readonly string[]): ProcessTimes[] {
  const lines = ps(['-o', 'pid=,ppid=,time=', ...selection]).split('\n');
  return lines.flatMap(line => {
    const [pid, parent, time] = line.trim().split(/\s+/);
    return time === undefined
      ? []
      : { pid: Number(pid), parent: Number(parent), own: parseTime(time), reaped: 0 };
  });
}

/** `[[days-]hours:]minutes:seconds` */
function parseTime(text: string): number {
  return text.split(/[-:]/).reduce((sum, part, index, { length }) => {
    const unit = [1, 60, 3600, 86_400][length - 1 - index] ?? 0;
    return sum + Number(part) * unit;
  }, 0);
}

function ps(parameters: readonly string[]): string {
  return Bun.spawnSync(['ps', ...parameters]).stdout.toString();
}
