# conquer:latest. Build with scripts/00_setup.sh --docker; programs are in /app/build, the command `conquer` on the path.
FROM debian:12
WORKDIR /app
COPY . .
RUN scripts/00_setup.sh && rm -rf /var/lib/apt/lists/* ~/.cache
ENV PATH=/app/.venv/bin:/app/build:$PATH
ENTRYPOINT ["conquer"]
CMD ["--help"]
