import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { ownOrigins } from "../../src/config/own-origins.ts";

const OWN = "postgres://localhost/x";
const LOCAL = ["http://localhost:4000", "http://127.0.0.1:4000"];

it.each([
  [{}, ["http://localhost:3000", ...LOCAL]],
  [{ APP_URL: "http://127.0.0.1:3000" }, ["http://127.0.0.1:3000", ...LOCAL]],
  [{ APP_URL: "https://app.example.com" }, ["https://app.example.com"]],
  [{ APP_URL: "https://app.example.com", DATABASE_URL: OWN }, ["https://app.example.com"]],
  [{ DATABASE_URL: OWN }, ["http://localhost:3000", ...LOCAL]],
  // As behind a proxy on this machine, where other ports are other programs'.
  [{ APP_URL: "http://127.0.0.1:8080", DATABASE_URL: OWN }, ["http://127.0.0.1:8080"]],
  [{ APP_URL: "https://localhost.example.com" }, ["https://localhost.example.com"]],
])("with %o accepts writes from %o", (variables, origins) => {
  expect(ownOrigins(readConfig(variables as Record<string, string>), 4_000)).toEqual(origins);
});

it("are written as browsers write them, without the default port", () => {
  const config = readConfig({ PORT: "80" });
  expect(ownOrigins(config, 80)).toEqual(expect.arrayContaining(["http://localhost", "http://127.0.0.1"]));
});
