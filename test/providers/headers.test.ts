import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ADAPTERS } from "../../src/providers/registry.ts";
import { requestOf, verifying } from "./request.ts";

const NOW = 1_772_366_400;
const SECRET = "a secret";
const BODY = Buffer.from('{"id":"evt_0"}');
const WRONG_HEX = "0".repeat(64);

describe.each([
  { format: "stripe", header: "stripe-signature", separator: ",", time: "t", signature: "v1", joint: "." },
  { format: "paddle", header: "paddle-signature", separator: ";", time: "ts", signature: "h1", joint: ":" },
] as const)("the parts of $header", ({ format, header, separator, time, signature, joint }) => {
  const hex = createHmac("sha256", SECRET).update(`${NOW}${joint}`).update(BODY).digest("hex");
  const good = `${signature}=${hex}`;
  const wrong = `${signature}=${WRONG_HEX}`;
  const stamp = `${time}=${NOW}`;
  const verify = (...parts: string[]) =>
    ADAPTERS.of(format).verify(requestOf(BODY, { [header]: parts.join(separator) }), verifying(SECRET, NOW));

  test("may come in any order, with spaces and unknown fields", () => {
    expect(verify(good, stamp)).toBeNull();
    expect(verify(` ${stamp} `, ` ${good} `)).toBeNull();
    expect(verify(stamp, "v0=abc", "v9", "", "=", good)).toBeNull();
  });

  test("may hold several signatures, one of which must match", () => {
    expect(verify(stamp, wrong, good, wrong)).toBeNull();
    expect(verify(stamp, wrong, wrong)).toBe("no signature matches a secret");
  });

  test("count only under the current scheme's name", () => {
    expect(verify(stamp, `v0=${hex}`, `h2=${hex}`, `V1=${hex}`)).toBe("header malformed");
  });

  test("are all compared", () => {
    // As many as fit into a header of 4,096 characters.
    expect(verify(stamp, ...Array(57).fill(wrong), good)).toBeNull();
  });

  test("have at most sixty-four fields", () => {
    expect(verify(stamp, good, ...Array(62).fill("x=y"))).toBeNull();
    expect(verify(stamp, good, ...Array(63).fill("x=y"))).toBe("header malformed");
  });

  test("may repeat the timestamp, but not with another value", () => {
    expect(verify(stamp, good, stamp, good)).toBeNull();
    expect(verify(stamp, good, `${time}=${NOW + 1}`)).toBe("header malformed");
    expect(verify(`${time}=${NOW + 1}`, stamp, good)).toBe("header malformed");
  });

  test("are malformed without a timestamp or a signature", () => {
    for (const parts of [[good], [stamp], ["nonsense"], [`${time}=`, good], [hex], ["é", "\u{1f600}"]]) {
      expect(verify(...parts)).toBe("header malformed");
    }
    for (const shape of [hex.slice(1), `${hex}00`, `${hex.slice(1)}g`, hex.replace(/.$/, "é"), ""]) {
      expect(verify(stamp, `${signature}=${shape}`)).toBe("header malformed");
    }
  });
});

describe("the Standard Webhooks headers of polar", () => {
  const base64 = createHmac("sha256", SECRET).update(`msg_0.${NOW}.`).update(BODY).digest("base64");
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;
  const verify = (signature: string, id = "msg_0", secret = SECRET) => {
    const headers = { "webhook-id": id, "webhook-timestamp": String(NOW), "webhook-signature": signature };
    return ADAPTERS.of("polar").verify(requestOf(BODY, headers), verifying(secret, NOW));
  };

  test("may hold several signatures, one of which must match", () => {
    expect(verify(`${wrong} v1,${base64}`)).toBeNull();
    expect(verify(`v1a,${base64}  v1,${base64} v2,x`)).toBeNull();
    expect(verify(`${wrong} ${wrong}`)).toBe("no signature matches a secret");
    expect(verify(`${Array(62).fill(wrong).join(" ")} v1,${base64}`)).toBeNull();
    expect(verify(`v1,${base64} ${Array(63).fill("v2,x").join(" ")}`)).toBeNull();
    expect(verify(`v1,${base64} ${Array(64).fill("v2,x").join(" ")}`)).toBe("header malformed");
  });

  test("may be sent in several headers, which HTTP joins by a comma and a space", () => {
    expect(verify(`v1,${base64}, ${wrong}`)).toBeNull();
    expect(verify(`${wrong}, v1,${base64}`)).toBeNull();
  });

  test("are malformed without a signature of version 1 in padded base64", () => {
    for (const signature of [
      base64,
      `v0,${base64}`,
      `v1a,${base64}`,
      `v1:${base64}`,
      `v1,${base64.slice(0, -1)}`,
      `v1,*${base64.slice(1)}`,
      `v1,${Buffer.from(base64, "base64").toString("hex")}`,
      "v1,",
      " ",
    ]) {
      expect(verify(signature)).toBe("header malformed");
    }
  });

  test("bind the id", () => {
    expect(verify(`v1,${base64}`, "msg_1")).toBe("no signature matches a secret");
    expect(verify(`v1,${base64}`, "msg_é")).toBe("header malformed");
    expect(verify(`v1,${base64}`, "m".repeat(5000))).toBe("header malformed");
  });

  test.each(["whsec_", "whsec_!!!!", "whsec_A", "whsec_=", "whsec_\u00e9\u00e9\u00e9\u00e9"])(
    "never verify under the empty key that %s decodes to",
    (secret) => {
      const empty = createHmac("sha256", "").update(`msg_0.${NOW}.`).update(BODY).digest("base64");
      expect(verify(`v1,${empty}`, "msg_0", secret)).toBe("no signature matches a secret");
      const signature = createHmac("sha256", secret).update(`msg_0.${NOW}.`).update(BODY).digest("base64");
      expect(verify(`v1,${signature}`, "msg_0", secret)).toBeNull();
    },
  );

  test.each([24, 31, 32, 1])("verify under a key of %i bytes, padded or not", (bytes) => {
    const key = Buffer.alloc(bytes, 0xa5);
    const decoded = createHmac("sha256", key).update(`msg_0.${NOW}.`).update(BODY).digest("base64");
    const secret = `whsec_${key.toString("base64")}`;
    expect(verify(`v1,${decoded}`, "msg_0", secret)).toBeNull();
    expect(verify(`v1,${decoded}`, "msg_0", secret.replaceAll("=", ""))).toBeNull();
  });

  test("never verify under a key with characters outside base64", () => {
    const short = createHmac("sha256", Buffer.from("ab", "base64"));
    const signature = short.update(`msg_0.${NOW}.`).update(BODY).digest("base64");
    expect(verify(`v1,${signature}`, "msg_0", "whsec_!!!!!!a!!!!!!b")).toBe("no signature matches a secret");
  });
});

describe("the headers of lemon-squeezy", () => {
  const body = Buffer.from('{"meta":{"event_name":"order_created"}}');
  const sign = (bytes: Buffer) => createHmac("sha256", SECRET).update(bytes).digest("hex");
  const verify = (headers: Record<string, string>, bytes = body) =>
    ADAPTERS.of("lemon-squeezy").verify(requestOf(bytes, headers), verifying(SECRET, NOW));

  test("are refused when the unsigned event name differs from the signed one", () => {
    expect(verify({ "x-signature": sign(body), "x-event-name": "order_created" })).toBeNull();
    expect(verify({ "x-signature": sign(body) })).toBeNull();
    for (const name of ["order_refunded", "Order_created", ""]) {
      expect(verify({ "x-signature": sign(body), "x-event-name": name })).toBe(
        "event name in the header differs from the signed one",
      );
    }
  });

  test("leave a body without an event name to later checks", () => {
    for (const text of ["no json", '{"meta":{"event_name":5}}', "[]", "null", '{"meta":[]}', "\xff"]) {
      const bytes = Buffer.from(text, "latin1");
      expect(verify({ "x-signature": sign(bytes), "x-event-name": "order_created" }, bytes)).toBeNull();
    }
  });

  test("are malformed when the signature is not 64 hexadecimal digits", () => {
    for (const shape of [`sha256=${sign(body)}`, sign(body).slice(2), `${sign(body)}, ${sign(body)}`, "é"]) {
      expect(verify({ "x-signature": shape })).toBe("header malformed");
    }
    expect(verify({ "x-signature": sign(body).toUpperCase() })).toBeNull();
  });
});
