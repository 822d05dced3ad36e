import { globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

/** A file in which one of these stands starts a program or listens on a port. */
const STARTS = /\b(spawn|fork|createServer|serve|spawnServer|startServer|startSimulator)\(|\.listen\(/;

/**
 * They listen for a moment, or stand for a neighbour of the server's; who imports only them starts no server.
 */
const NO_SERVERS = [
  "http",
  "free-port",
  "browser",
  "redis",
  "smtp-server",
  "tcp-proxy",
  "haproxy",
  "pgbouncer",
];

/**
 * The test files that start a server, themselves or by a helper that they import. Paths from the project's
 * root, sorted.
 */
export function serverTests(project: string): string[] {
  const texts = new Map(
    globSync("test/**/*.ts", { cwd: project }).map((file) => {
      const path = resolve(project, file);
      return [path, readFileSync(path, "utf8")];
    }),
  );
  const noServers = new Set(NO_SERVERS.map((name) => resolve(project, `test/support/${name}.ts`)));
  const starting = new Set(
    [...texts].filter(([path, text]) => STARTS.test(text) && !noServers.has(path)).map(([path]) => path),
  );

  const imported = (path: string): string[] =>
    [...(texts.get(path) ?? "").matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, file]) =>
      resolve(dirname(path), file as string),
    );
  const starts = (path: string, seen: Set<string>): boolean => {
    if (starting.has(path)) return true;
    if (seen.has(path)) return false;
    seen.add(path);
    return imported(path).some((file) => starts(file, seen));
  };
  return [...texts.keys()]
    .filter((path) => path.endsWith(".test.ts") && starts(path, new Set()))
    .map((path) => relative(project, path))
    .sort();
}
