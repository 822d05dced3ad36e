import { describe, expect, it } from "vitest";
import { deviceName } from "../../src/app/(account)/settings/security/device-name.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
const ANDROID =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36";

describe("the name of a device", () => {
  it.each([
    [`${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`, "Safari", "iOS"],
    [`${IPHONE} CriOS/126.0.6478.35 Mobile/15E148 Safari/604.1`, "Chrome", "iOS"],
    [`${IPHONE} FxiOS/127.0 Mobile/15E148 Safari/605.1.15`, "Firefox", "iOS"],
    [`${IPHONE} Version/17.0 EdgiOS/126.0.2592.56 Mobile/15E148 Safari/605.1.15`, "Edge", "iOS"],
    [ANDROID, "Chrome", "Android"],
    [`${ANDROID} EdgA/126.0.0.0`, "Edge", "Android"],
    [`${ANDROID} OPR/82.0.0.0`, "Opera", "Android"],
  ])("is that of the browser on phones, too: %s", (userAgent, browser, system) => {
    expect(deviceName(userAgent)).toEqual({ browser, system });
  });

  it("is that of a Chromebook", () => {
    const userAgent =
      "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
    expect(deviceName(userAgent)).toEqual({ browser: "Chrome", system: "ChromeOS" });
  });

  it.each([null, "", "curl/8.5.0"])("is unknown for a program: %s", (userAgent) => {
    expect(deviceName(userAgent)).toBeNull();
  });
});
