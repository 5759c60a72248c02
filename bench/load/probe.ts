/**
 * `bun bench/load/probe.ts PORT`: requests /health every few milliseconds, in a process that does nothing else, so that
 * the work of a load generator does not count as waiting. After each line on standard input it prints the waits since
 * the previous line, in milliseconds, as a JSON array.
 */
export {};

const url = `http://127.0.0.1:${process.argv[2]}/health`;
const everyMs = 5;
let waits: number[] = [];

async function probe(): Promise<never> {
  for (;;) {
    const started = performance.now();
    await (await fetch(url)).bytes();
    waits.push(performance.now() - started);
    await Bun.sleep(everyMs);
  }
}

void probe();
for await (const _ of console) {
  console.log(JSON.stringify(waits));
  waits = [];
}
process.exit(0);
