/** The programs that tests have started: a test that fails does not end its own. */
import type { Subprocess } from 'bun';

const running = new Set<Subprocess>();

/** Lets the program be ended after all tests of the process, unless it ends before. */
export function noteRunning(program: Subprocess): void {
  running.add(program);
  void program.exited.then(() => running.delete(program));
}

export function endRunning(): void {
  for (const program of running) program.kill('SIGKILL');
}
