export function StepHeading({ title, description }: { title: string; description: string }) {
  return (
    <div className="mb-5">
      <h1 className="font-semibold text-lg">{title}</h1>
      <p className="mt-1 text-muted">{description}</p>
    </div>
  );
}
