import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { wireFormats } from "../../../src/providers/registry.ts";

const APIS = new URL("../../../src/providers/create-payment-api.ts", import.meta.url).href;

it.each(wireFormats())("loads the API of %s with its first call", (format) => {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { createPaymentApi } = await import(${JSON.stringify(APIS)});
    const api = createPaymentApi({ slot: "provider-a", format: "${format}", apiKey: "\\u2026", apiUrl: null });
    const before = loaded.splice(0);
    await api.fetchSubscription("1").catch(() => {});
    console.log(JSON.stringify({ before, after: loaded }));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const { before, after } = JSON.parse(stdout) as { before: string[]; after: string[] };
  const apiModules = before.filter((url) => /node_modules|\/outbound\/|\/api\.ts$/.test(url));
  expect(apiModules).toEqual([]);
  expect(after.some((url) => url.endsWith(`/providers/${format}/api.ts`))).toBe(true);
  const sdks = ["stripe", "polar-sh"].filter((sdk) =>
    after.some((url) => url.includes(`node_modules/${sdk === "stripe" ? sdk : `@${sdk}`}/`)),
  );
  expect(sdks).toEqual({ stripe: ["stripe"], polar: ["polar-sh"], paddle: [], "lemon-squeezy": [] }[format]);
});

it("loads the API again after a load that has failed", () => {
  const program = `
    import { registerHooks } from "node:module";
    let isFailing = true;
    registerHooks({ load: (url, context, next) => {
      if (isFailing && url.endsWith("/stripe/api.ts")) throw new Error("too many open files");
      return next(url, context);
    } });
    const { createPaymentApi } = await import(${JSON.stringify(APIS)});
    const api = createPaymentApi({ slot: "provider-a", format: "stripe", apiKey: "\\u2026", apiUrl: null });
    const call = () => api.fetchSubscription("1").catch(({ message }) => message);
    const first = await call();
    isFailing = false;
    console.log(JSON.stringify([first, await call()]));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const [first, second] = JSON.parse(stdout);
  expect(first).toBe("too many open files");
  expect(second).not.toBe(first);
});
