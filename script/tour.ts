import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { readConfig } from "../src/config/config.ts";
import { createLog } from "../src/observability/log.ts";
import { startServer } from "../src/server.ts";
import { openDatabase } from "../src/store/database.ts";
import { startEmbeddedPostgres } from "../src/store/embedded/embedded.ts";

// Takes the pictures of docs/tour.md: goes through the built pages as somebody would who is new here.
// Ports 3000 and 3001 have to be free, as the pages say where they are.
const PICTURES = new URL("../docs/tour/", import.meta.url).pathname;
const ROOT = new URL("..", import.meta.url).pathname;
const URL_OF_SITE = "http://localhost:3000";
const SOMEBODY = { name: "Somebody New", email: "somebody@example.com", password: "a long password" };
const SECRETS = { A: "whsec_dG91cg==", B: "pdl_ntfset_tour", C: "polar_whs_tour" };

const run = promisify(execFile);
await run(join(ROOT, "script/build-pages"));
await rm(PICTURES, { recursive: true, force: true });
await mkdir(PICTURES, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), "tollgate-tour-"));
await chmod(folder, 0o755);
const postgres = await startEmbeddedPostgres(folder);
const variables = {
  DATABASE_URL: postgres.adminUrl,
  DATA_DIR: folder,
  AUTH_SECRET: "only-for-pictures-and-long-enough-to-be-taken",
  SIMULATOR: "on",
  LOG_LEVEL: "silent",
  ...Object.fromEntries(
    Object.entries(SECRETS).map(([slot, secret]) => [`PROVIDER_${slot}_WEBHOOK_SECRET`, secret]),
  ),
};
const environment = readConfig(variables);
const server = await startServer(environment, { log: createLog(environment.logLevel) });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const database = openDatabase({
  ...{ url: postgres.adminUrl, prepared: false, maxConnections: 1, answerTimeoutMs: 30_000 },
});
try {
  const page = await visit({});
  await signUp(page);
  await buy(page);
  await makeKey(page);
  await readInGerman(page);
  await becomeBusy();
  await administrate(page);
  await inOtherLights(page);
} finally {
  await browser.close();
  await server.close();
  await database.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function visit(options: BrowserContextOptions): Promise<Page> {
  const viewport = { width: 1280, height: 800 };
  const context = await browser.newContext({
    ...{ baseURL: URL_OF_SITE, viewport, locale: "en-GB" },
    ...options,
  });
  return context.newPage();
}

async function picture(page: Page, name: string): Promise<void> {
  await page.evaluate("document.fonts.ready.then(() => null)");
  await page.evaluate("scrollTo(0, 0)");
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${PICTURES}${name}.png` });
}

async function press(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function signUp(page: Page): Promise<void> {
  await page.goto("/", { waitUntil: "networkidle" });
  await picture(page, "01-landing");
  await page.goto("/sign-up", { waitUntil: "networkidle" });
  await page.getByLabel("Name").fill(SOMEBODY.name);
  await page.getByLabel("Email address").fill(SOMEBODY.email);
  await page.getByLabel("Password").fill(SOMEBODY.password);
  await picture(page, "02-sign-up");
  await press(page, "Create account");
  await press(page, "Save and continue");
  await page.getByRole("heading", { name: "Choose your preferences" }).waitFor();
  await picture(page, "03-onboarding");
  await press(page, "Save and continue");
  await page.getByRole("button", { name: /^Choose a plan/ }).click();
  await page.waitForURL("/billing");
}

async function buy(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  const pro = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Pro" }) });
  await pro.getByLabel("Seats").fill("3");
  await pro.getByRole("button", { name: "Choose Pro" }).click();
  await page.getByLabel("Test card").waitFor();
  await picture(page, "04-checkout");
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.getByText("Thank you. Your subscription is set up.").waitFor();
  await page.goto("/billing", { waitUntil: "networkidle" });
  await page.getByText(/^Renews on/).waitFor();
  await picture(page, "05-billing");
}

async function makeKey(page: Page): Promise<void> {
  await page.goto("/api-keys", { waitUntil: "networkidle" });
  await page.getByLabel("Name").fill("Nightly report");
  await press(page, "Create key");
  await page.getByText("Copy your new key now").waitFor();
  await picture(page, "06-api-key");
  await page.goto("/notifications", { waitUntil: "networkidle" });
  await picture(page, "07-notifications");
  await page.goto("/dashboard", { waitUntil: "networkidle" });
  await picture(page, "08-dashboard");
}

async function readInGerman(page: Page): Promise<void> {
  await page.goto("/settings", { waitUntil: "networkidle" });
  await page.getByLabel("Language").selectOption("de");
  await press(page, "Save language");
  await page.getByRole("heading", { level: 1, name: "Einstellungen" }).waitFor();
  await picture(page, "09-settings-german");
  await page.getByLabel("Sprache").selectOption("en");
  await press(page, "Sprache speichern");
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
}

/** A day of deliveries, some of them in the wrong order, in a few seconds. */
async function becomeBusy(): Promise<void> {
  const tollgate = (...args: string[]) =>
    run(process.execPath, [join(ROOT, "src/cli/tollgate.ts"), ...args], {
      env: { PATH: process.env.PATH, ...variables },
    });
  for (let n = 0; n < 3; n += 1) await deliverOfNobody(n);
  await tollgate("simulate", "--slot", "provider-a", "--events", "180");
  for (let n = 3; n < 7; n += 1) await deliverOfNobody(n);
  await tollgate("simulate", "--slot", "provider-b", "--events", "60", "--shuffle", "--seed", "4");
  await tollgate("users", "promote", SOMEBODY.email);
  const text = `update webhook_delivery
    set received_at = clock_timestamp() - interval '22 hours' * (1 - part - 0.04 * sin(part * 15) + 0.04 * sin(15::float8))
    from (select id as of, id::float8 / max(id) over () as part from webhook_delivery) parts where id = of`;
  await database.run({ name: "spread", text }, []);
}

/** A Stripe event of somebody whom nobody here knows: it fails, and is tried again. */
async function deliverOfNobody(n: number): Promise<void> {
  const object = { id: `sub_${n}`, status: "active", metadata: { userId: "user_unknown", planId: "pro" } };
  const body = JSON.stringify({ id: `evt_${n}`, type: "customer.subscription.created", data: { object } });
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac("sha256", SECRETS.A).update(`${t}.${body}`).digest("hex");
  const headers = { "stripe-signature": `t=${t},v1=${v1}` };
  await fetch(`${URL_OF_SITE}/api/webhooks/provider-a`, { method: "POST", headers, body });
}

async function administrate(page: Page): Promise<void> {
  await page.goto("/admin/users", { waitUntil: "networkidle" });
  await picture(page, "10-users");
  await page.goto("/admin/webhooks", { waitUntil: "networkidle" });
  await picture(page, "11-webhooks");
  await page.goto("/admin/webhooks?status=failed", { waitUntil: "networkidle" });
  await page.getByRole("table", { name: "Deliveries" }).getByRole("link").first().click();
  await page.getByRole("heading", { name: "History" }).waitFor();
  await picture(page, "12-delivery");
  await page.goto("/admin/subscriptions", { waitUntil: "networkidle" });
  await picture(page, "13-out-of-order");
}

/** The same in the dark, and in the hand. */
async function inOtherLights(page: Page): Promise<void> {
  const storageState = await page.context().storageState();
  const dark = await visit({ storageState, colorScheme: "dark" });
  const phone = await visit({ storageState, viewport: { width: 390, height: 844 } });
  for (const [name, path] of [
    ["billing", "/billing"],
    ["webhooks", "/admin/webhooks"],
  ] as const) {
    await dark.goto(path, { waitUntil: "networkidle" });
    await picture(dark, `14-${name}-dark`);
    await phone.goto(path, { waitUntil: "networkidle" });
    await picture(phone, `15-${name}-phone`);
  }
}
