import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkProxies } from "../../src/doctor/check-proxies.ts";

it.each([
  [{}, "good"],
  [{ APP_URL: "http://tollgate.internal:3000" }, "good"],
  [{ APP_URL: "https://localhost:3000" }, "good"],
  [{ APP_URL: "https://app.example.com" }, "warning"],
  [{ APP_URL: "https://app.example.com", TRUSTED_PROXIES: "0" }, "warning"],
  [{ APP_URL: "https://app.example.com", TRUSTED_PROXIES: "1" }, "good"],
  [{ APP_URL: "https://app.example.com", TRUSTED_PROXIES: "10.0.0.0/8" }, "good"],
])("with %o is %s", (variables, state) => {
  expect(checkProxies(readConfig(variables as Record<string, string>)).state).toBe(state);
});
